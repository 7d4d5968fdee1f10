"""The reader of ONNX files agrees with the onnx package."""

import numpy as np
import onnx
import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
from onnx import numpy_helper, onnx_ml_pb2

import tiny
from niwaki.engines.export import write_graph
from niwaki.engines.onnx_schema import MESSAGES, NUMBERS, numbers_of, parse_model


@pytest.mark.parametrize("message", MESSAGES)
def test_fields_are_those_of_onnx(message):
    """Every field, so that nothing in a graph stays unseen: numbers, names and repetition."""
    described = DescriptorProto()  # the descriptor as a message, which is the same in all versions of protobuf
    onnx_ml_pb2.DESCRIPTOR.message_types_by_name[message].CopyToProto(described)
    ours = [text.split() for text in MESSAGES[message].split(", ")]
    assert {
        (field.number, field.name, field.label == FieldDescriptorProto.LABEL_REPEATED) for field in described.field
    } == {(int(number), name, kind.endswith("*")) for number, name, kind in ours}


def test_parsed_graph_equals_that_of_onnx(tmp_path):
    write_graph(tiny.model("bert"), _saved(tmp_path))
    data = (tmp_path / "model.onnx").read_bytes()
    ours, official = parse_model(data), onnx.load_from_string(data)
    assert len(ours.graph.node) == len(official.graph.node) > 10
    for one, other in zip(ours.graph.node, official.graph.node, strict=True):
        assert (one.op_type, one.domain, list(one.input), list(one.output)) == (
            other.op_type,
            other.domain,
            list(other.input),
            list(other.output),
        )
        assert [entry.t.dims for entry in one.attribute] == [entry.t.dims for entry in other.attribute]
    for one, other in zip(ours.graph.initializer, official.graph.initializer, strict=True):
        assert (one.name, one.data_location, len(one.external_data)) == (
            other.name,
            other.data_location,
            len(other.external_data),
        )
    assert ours.SerializeToString() == official.SerializeToString()


def _saved(folder):
    tiny.model("bert").save(folder)
    return folder


def test_subgraphs_functions_and_sparse_tensors_are_seen():
    value = onnx.helper.make_tensor_value_info("x", 1, [1])
    inner = onnx.helper.make_graph([], "inner", [], [value])
    node = onnx.helper.make_node("If", ["x"], ["y"], then_branch=inner)
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "outer", [value], [value]))
    model.functions.add(name="f")
    model.training_info.add()
    model.graph.sparse_initializer.add()
    ours = parse_model(model.SerializeToString())
    assert ours.graph.node[0].attribute[0].HasField("g") and not ours.graph.node[0].attribute[0].HasField(
        "sparse_tensor"
    )
    assert len(ours.functions) == len(ours.training_info) == len(ours.graph.sparse_initializer) == 1


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("raw", [True, False])
def test_numbers_are_those_of_onnx(kind, raw):
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
    values = np.array([1, 0, 1], dtype=dtype)
    given = values.tobytes() if raw else values.tolist()
    tensor = onnx.helper.make_tensor("t", kind, [3], given, raw=raw)
    assert numbers_of(tensor).tolist() == numpy_helper.to_array(tensor).astype(np.float64).tolist()


@pytest.mark.parametrize(
    "tensor",
    [
        onnx.TensorProto(data_type=8, string_data=[b"x"], dims=[1]),
        onnx.TensorProto(data_type=7, raw_data=b"1234567", dims=[1]),
        onnx.TensorProto(data_type=1, float_data=[float("inf")], dims=[1]),
    ],
)
def test_shapes_that_are_no_numbers_are_rejected(tensor):
    with pytest.raises(ValueError, match=r"\w"):
        numbers_of(tensor)


def test_damaged_bytes_are_rejected():
    with pytest.raises(ValueError, match="damaged or cut short"):
        parse_model(b"\x3a\xff\xff\xff\x0fnot onnx")
