"""Integer products rewritten as float products: the same sums, and nothing else changes."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from niwaki.engines.quantized_products import QuantizedProduct, expose_scales

WEIGHT = np.array([[2, -1], [0, 4], [-3, 5]], np.int8)  # (in, out)
SCALE = np.array([0.5, 0.25], np.float32)


def graph(fixed: bool = False, **changes):
    """A product as `models.forms.int8`, or `static`, write it."""
    rounding = (
        [helper.make_node("QuantizeLinear", ["x", "step", "zero"], ["codes"])]
        if fixed
        else [helper.make_node("DynamicQuantizeLinear", ["x"], ["codes", "step", "zero"])]
    )
    nodes = [
        *rounding,
        helper.make_node("MatMulInteger", ["codes", "weight", changes.get("zero", "zero")], ["total"]),
        helper.make_node("Cast", ["total"], ["cast"], to=TensorProto.FLOAT),
        helper.make_node("Mul", changes.get("factors", ["step", "scale"]), ["factor"]),
        helper.make_node("Mul", changes.get("order", ["cast", "factor"]), ["y"]),
    ]
    tables = {"weight": WEIGHT, "scale": SCALE}
    tables |= {"step": np.array(0.5, np.float32), "zero": np.array(3, np.uint8)} if fixed else {}
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 3])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 2])]
    initializers = [numpy_helper.from_array(value, name) for name, value in tables.items()]
    return helper.make_model(
        helper.make_graph(nodes, "product", inputs, outputs, initializers), opset_imports=[helper.make_opsetid("", 19)]
    )


def given(model, x):
    return ReferenceEvaluator(model).run(None, {"x": x})[0]


@pytest.mark.parametrize("turned", [{}, {"factors": ["scale", "step"]}, {"order": ["factor", "cast"]}], ids=str)
def test_dynamic_quantization_becomes_a_float_product(turned):
    model = graph(**turned)
    assert expose_scales(model.graph) == [QuantizedProduct("weight", "scale", False)]
    assert [node.op_type for node in model.graph.node] == ["DequantizeLinear", "MatMul"]
    # by hand: [1, 2, 3] · weight = [2 - 9, -1 + 8 + 15] = [-7, 22], times the scales
    np.testing.assert_allclose(given(model, np.array([[1, 2, 3]], np.float32)), [[-3.5, 5.5]])


def test_static_quantization_keeps_its_rounding():
    before, model = graph(fixed=True), graph(fixed=True)
    assert expose_scales(model.graph) == [QuantizedProduct("weight", "scale", True)]
    kinds = [node.op_type for node in model.graph.node]
    assert kinds == ["QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "MatMul"]
    x = np.array([[0.7, -0.2, 1.4], [90, -90, 3.2]], np.float32)  # some beyond the range
    np.testing.assert_allclose(given(model, x), given(before, x), rtol=1e-6)
    # by hand: 0.7, -0.2, 1.4 in steps of 0.5 are 0.5, 0, 1.5: times weight [1 - 4.5, -0.5 + 7.5], times the scales
    np.testing.assert_allclose(given(model, x[:1]), [[-1.75, 1.75]])


@pytest.mark.parametrize(
    "changes", [{"zero": "other"}, {"factors": ["scale", "scale"]}, {"order": ["cast", "scale"]}], ids=str
)
def test_other_integer_products_stay(changes):
    model = graph(**changes)
    assert expose_scales(model.graph) == []
    assert "MatMulInteger" in [node.op_type for node in model.graph.node]


def test_shared_codes_keep_their_other_consumer():
    model = graph()
    model.graph.node.append(helper.make_node("Identity", ["codes"], ["codes_too"]))
    model.graph.output.append(helper.make_tensor_value_info("codes_too", TensorProto.UINT8, [None, 3]))
    assert len(expose_scales(model.graph)) == 1
    assert {node.op_type for node in model.graph.node} == {
        "DynamicQuantizeLinear",
        "DequantizeLinear",
        "MatMul",
        "Identity",
    }
