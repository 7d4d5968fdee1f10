"""Building an OpenVINO model: weights from the file, packed ones unpacked once, shapes checked."""

import numpy as np
import onnx
import pytest
from onnx import helper

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.graph_rules import GRAPH
from niwaki.engines.openvino_model import places, read_openvino_model
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit

openvino = pytest.importorskip("openvino")


@pytest.fixture(scope="module")
def core():
    return openvino.Core()


@pytest.fixture(scope="module", params=["floats", "int8", "4bit"])
def saved(request, tmp_path_factory):
    model = tiny.model("bert", layers=1)
    for edit in {"floats": (), "int8": (Int8(),), "4bit": (LowBit(base=16),)}[request.param]:
        model.apply_edit(edit)
    return request.param, model, tiny.with_graphs(model, tmp_path_factory.mktemp("openvino") / "model")


def test_no_weight_is_left_as_an_input(saved, core):
    _, _, folder = saved
    model, _ = read_openvino_model(folder, core)
    assert {entry.any_name for entry in model.inputs} == {"input_ids", "attention_mask", "token_type_ids"}


def test_products_with_rounded_inputs_are_counted_by_their_width(saved, core):
    """Query, key, value, out and the first matrix of the block read 32 numbers, the second one 64."""
    kind, _, folder = saved
    _, widths = read_openvino_model(folder, core)
    assert sorted(widths) == ([] if kind == "floats" else [32] * 5 + [64])


def test_the_model_computes_what_torch_computes(saved, core):
    kind, model, folder = saved
    built, _ = read_openvino_model(folder, core)
    compiled = core.compile_model(built, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    batch = tiny.batch(model)
    found = compiled({name: value.numpy() for name, value in batch.inputs.items()})[0]
    wanted = tiny.logits(model, batch).numpy()
    assert np.abs(found - wanted).max() <= (1e-5 if kind == "floats" else 0.1) * np.abs(wanted).max()


def test_outputs_are_found_by_their_names(saved, core):
    _, _, folder = saved
    model, _ = read_openvino_model(folder, core)
    name = model.outputs[0].any_name
    assert len(places(model, {name})) >= 1 and places(model, {"no such name"}) == []


def test_a_table_of_another_shape_than_in_the_file_is_rejected(tmp_path, core):
    folder = tiny.with_graphs(tiny.model("bert", layers=1), tmp_path / "model")
    graph = onnx.load(str(folder / GRAPH), load_external_data=False)
    table = next(one for one in graph.graph.initializer if len(one.dims) == 2 and one.dims[0] != one.dims[1])
    table.dims[:] = list(table.dims)[::-1]
    (folder / GRAPH).write_bytes(graph.SerializeToString())
    with pytest.raises(InputError, match=r"model\.onnx: .*has another shape or type"):
        read_openvino_model(folder, core)


def test_other_inputs_than_niwakis_are_rejected(tmp_path, core):
    folder = tiny.with_graphs(tiny.model("bert", layers=1), tmp_path / "model")
    graph = onnx.load(str(folder / GRAPH), load_external_data=False)
    graph.graph.input.append(helper.make_tensor_value_info("more", onnx.TensorProto.FLOAT, [1]))
    graph.graph.node.append(helper.make_node("Neg", ["more"], ["less"]))
    graph.graph.output.append(helper.make_tensor_value_info("less", onnx.TensorProto.FLOAT, [1]))
    (folder / GRAPH).write_bytes(graph.SerializeToString())
    with pytest.raises(InputError, match="its inputs and outputs are not those that niwaki writes"):
        read_openvino_model(folder, core)
