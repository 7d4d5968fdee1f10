"""Smaller ONNX graphs that compute the same."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from niwaki.engines.tidy import tidy


def constant(name: str, value: float) -> onnx.NodeProto:
    values = numpy_helper.from_array(np.array(value, np.float32))
    return helper.make_node("Constant", [], [name], name=f"node of {name}", value=values)


def graph() -> onnx.GraphProto:
    """(x + 2) · w + 2, with the constant 2 twice."""
    nodes = [
        constant("/layer/Constant_output_0", 2.0),
        constant("/layer/Constant_1_output_0", 2.0),
        helper.make_node("Add", ["x", "/layer/Constant_output_0"], ["/layer/Add_output_0"], name="/layer/Add"),
        helper.make_node("Mul", ["/layer/Add_output_0", "w"], ["/layer/Mul_output_0"], doc_string="where it was"),
        helper.make_node("Add", ["/layer/Mul_output_0", "/layer/Constant_1_output_0"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    weights = [numpy_helper.from_array(np.array([1, 2, 3], np.float32), "w")]
    shapes = [helper.make_tensor_value_info("/layer/Add_output_0", TensorProto.FLOAT, [3])]
    return helper.make_graph(nodes, "graph", ends[:1], ends[1:], weights, value_info=shapes)


def run(of: onnx.GraphProto) -> np.ndarray:
    model = helper.make_model(of, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.array([1, 1, 1], np.float32)})[0]


def test_equal_constants_are_merged_and_values_numbered():
    found = graph()
    tidy(found)
    assert [(node.op_type, list(node.input), list(node.output)) for node in found.node] == [
        ("Constant", [], ["v0"]),
        ("Add", ["x", "v0"], ["v1"]),
        ("Mul", ["v1", "w"], ["v2"]),
        ("Add", ["v2", "v0"], ["y"]),
    ]
    assert not any(node.name or node.doc_string for node in found.node) and not found.value_info


def test_the_graph_computes_the_same():
    found = graph()
    expected = run(found)
    tidy(found)
    assert run(found).tolist() == expected.tolist() == [5.0, 8.0, 11.0]


def test_different_constants_and_empty_inputs_stay():
    nodes = [constant("a", 1.0), constant("b", 2.0), helper.make_node("Clip", ["x", "", "b"], ["y"])]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    found = helper.make_graph(nodes, "graph", ends[:1], ends[1:])
    tidy(found)
    assert len(found.node) == 3 and list(found.node[2].input) == ["x", "", "v1"]


def test_tidying_twice_changes_nothing():
    found = graph()
    tidy(found)
    once = found.SerializeToString(deterministic=True)
    tidy(found)
    assert found.SerializeToString(deterministic=True) == once
