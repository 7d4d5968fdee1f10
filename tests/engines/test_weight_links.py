"""Graphs refer to the saved weights, also where checkpoints store them in another layout."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import InferenceSession
from safetensors.numpy import save_file

import tiny
from niwaki.engines.graph_rules import EXTERNAL, GRAPH, WEIGHTS
from niwaki.engines.predictor import Predictor
from niwaki.engines.weight_links import link_weights

DRAW = np.random.default_rng(7)
JOINED = DRAW.normal(size=(6, 11)).astype(np.float32)
CUBE = DRAW.normal(size=(6, 3, 5)).astype(np.float32)
BIASES = DRAW.normal(size=40).astype(np.float32)
TIES = np.repeat(np.float32([1, 2, 1]), 20).reshape(3, 20)  # its first and last row are alike


def session_with(values: np.ndarray, stored: dict[str, np.ndarray], folder) -> tuple[onnx.GraphProto, np.ndarray]:
    """The linked graph of one tensor, and the value that ONNX Runtime computes."""
    save_file(stored, folder / WEIGHTS)
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    node = helper.make_node("Identity", ["network.own"], ["out"])
    graph = helper.make_graph([node], "g", [], [output], [numpy_helper.from_array(values, "network.own")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    link_weights(model, folder / WEIGHTS)
    onnx.save_model(model, str(folder / GRAPH))
    return model.graph, InferenceSession(str(folder / GRAPH)).run(None, {})[0]


@pytest.mark.parametrize(
    ("values", "operators"),
    [
        (JOINED[1:5], ["Slice"]),
        (JOINED[2:], ["Slice"]),
        (JOINED.T[4:8], ["Slice", "Transpose"]),
        (JOINED.T, ["Transpose"]),
        (CUBE.reshape(6, 15).T, ["Reshape", "Transpose"]),
        (CUBE[3:], ["Reshape", "Slice", "Reshape"]),
        (BIASES[9:30], ["Slice"]),
        (TIES[2:], ["Slice"]),
        (JOINED, []),
        (CUBE.reshape(6, 15), []),
    ],
    ids=[
        *("rows", "last rows", "columns", "transposed", "three dimensions", "part of three", "bias", "alike"),
        *("another name", "another shape"),
    ],
)
def test_parts_of_stored_tensors_are_computed_from_them(tmp_path, values, operators):
    values = np.ascontiguousarray(values)
    stored = {"other": CUBE[0] + 1, "joined": JOINED, "cube": CUBE, "biases": BIASES, "ties": TIES}
    graph, found = session_with(values, stored, tmp_path)
    assert [node.op_type for node in graph.node] == [*operators, "Identity"]
    assert sum(one.data_location == EXTERNAL for one in graph.initializer) == 1
    np.testing.assert_array_equal(found, values)


def test_what_is_not_stored_stays_in_the_graph(tmp_path):
    changed = JOINED[1:5].copy()
    changed[3, 10] = np.nextafter(changed[3, 10], np.float32(9))
    graph, found = session_with(changed, {"joined": JOINED}, tmp_path)
    assert len(graph.node) == 1 and graph.initializer[0].data_location != EXTERNAL
    np.testing.assert_array_equal(found, changed)


@pytest.mark.parametrize("family", ["gpt2", "modernbert", "xlnet"])  # joined and transposed, joined, parameters
def test_unedited_models_store_their_weights_once(tmp_path, family):
    model = tiny.model(family, layers=1)
    folder = tiny.with_graphs(model, tmp_path / "model")
    graph = onnx.load(str(folder / GRAPH), load_external_data=False).graph
    assert sum(len(one.raw_data) for one in graph.initializer if one.data_location != EXTERNAL) < 1000
    texts = [text for text, _ in tiny.sentences(5)]
    ours, theirs = (Predictor(folder, engine) for engine in ("onnx", "torch"))
    rows = ours.tokenize(texts)
    np.testing.assert_allclose(ours.logits(rows), theirs.logits(rows), atol=1e-5)
