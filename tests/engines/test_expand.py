"""Our ONNX operators as standard ones. Unpacking low-bit codes is tested in tests/models/packed/test_low_bit.py."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from niwaki.engines.expand import DOMAIN, OPERATORS, expand


def run(operator: str, inputs: dict[str, np.ndarray], dimensions: int, **attributes: int) -> np.ndarray:
    """The result of one operator of ours, expanded."""
    node = helper.make_node(operator, list(inputs), ["y"], domain=DOMAIN, **attributes)
    entries = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * dimensions)
    graph = helper.make_graph([node], "graph", entries, [output])
    expand(graph)
    assert all(node.domain == "" for node in graph.node)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def test_digits_are_unpacked_by_hand():
    """Base 4: a byte holds four digits, lowest first; a digit d stands for (d - 1.5) · scale."""
    words = np.array([[0 + 1 * 4 + 2 * 16 + 3 * 64, 3 + 1 * 4]], np.uint8)
    scale = np.array([[0.5, 2.0]], np.float16)
    found = run("Unpack", {"words": words, "scale": scale}, 2, base=4, digits=4, group=4, columns=6, rank=2)
    assert found.tolist() == [[-0.75, -0.25, 0.25, 0.75, 3.0, -1.0]]


def test_values_are_spread_over_set_bits():
    bits = np.array([0b00101010, 0b1], np.uint8)  # places 1, 3, 5 and 8, lowest bit first
    values = np.array([[1, 2, -3, 4]], np.float32)
    found = run("Spread", {"bits": bits, "values": values}, 2, rows=3, columns=3)
    assert found.tolist() == [[0, 1, 0], [2, 0, -3], [0, 0, 4]]


def test_a_matrix_without_set_bits_is_zero():
    values = np.array([[7.0]], np.float32)
    assert not run("Spread", {"bits": np.zeros(1, np.uint8), "values": values}, 2, rows=2, columns=3).any()


def test_products_are_rounded_to_eight_bits():
    generator = np.random.default_rng(0)
    x, weight = (generator.standard_normal(shape).astype(np.float32) for shape in ((5, 20), (3, 20)))
    bias = np.array([1.0, -2.0, 0.5], np.float32)
    found = run("RoundedProduct", {"x": x, "weight": weight, "bias": bias}, 2)
    scale = np.abs(weight).max(axis=1, keepdims=True) / 127
    rounded = np.round(weight / scale) * scale
    step = (max(x.max(), 0) - min(x.min(), 0)) / 255  # of activations, rounded to nearest
    bound = step / 2 * np.abs(rounded).sum(axis=1) + 1e-4
    assert (np.abs(found - (x @ rounded.T + bias)) <= bound).all()
    assert (found != x @ weight.T + bias).any()


def test_a_row_of_zeros_gives_its_bias():
    inputs = {
        "x": np.array([[1.0, -1.0]], np.float32),
        "weight": np.array([[0.0, 0.0], [1.0, 0.0]], np.float32),
        "bias": np.array([0.25, 0.0], np.float32),
    }
    found = run("RoundedProduct", inputs, 2)
    assert found[0, 0] == 0.25 and found[0, 1] == pytest.approx(1, abs=0.01)


def test_standard_operators_stay():
    entry = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "graph", [entry], [output])
    before = graph.SerializeToString()
    expand(graph)
    assert graph.SerializeToString() == before


def test_names_of_two_expanded_nodes_differ():
    nodes = [
        helper.make_node("Spread", ["bits", "values"], [out], domain=DOMAIN, rows=1, columns=8) for out in ("a", "b")
    ]
    graph = helper.make_graph(nodes, "graph", [], [])
    expand(graph)
    outputs = [name for node in graph.node for name in node.output]
    assert len(outputs) == len(set(outputs)) and {"a", "b"} <= set(outputs)


def test_every_exported_operator_is_known():
    assert set(OPERATORS) == {"Unpack", "Spread", "RoundedProduct"}
    with pytest.raises(KeyError):
        expand(helper.make_graph([helper.make_node("Other", [], ["y"], domain=DOMAIN)], "graph", [], []))
