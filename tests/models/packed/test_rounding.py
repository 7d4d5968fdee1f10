"""Activations in 8 bits against ONNX Runtime."""

import onnx
import onnxruntime
import torch

from calibrated import drawn
from niwaki.models.packed.rounding import in_eight_bits


def test_activations_are_rounded_as_the_engine_does(tmp_path):
    """Against the operator itself, by ONNX Runtime."""
    nodes = [
        onnx.helper.make_node("DynamicQuantizeLinear", ["x"], ["codes", "step", "zero"]),
        onnx.helper.make_node("DequantizeLinear", ["codes", "step", "zero"], ["y"]),
    ]
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [None, None]) for name in ("x", "y")]
    graph = onnx.helper.make_graph(nodes, "one", ends[:1], ends[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for x in (drawn(50, 40), drawn(3, 3).abs() + 1, -drawn(3, 3).abs() - 1, torch.zeros(2, 2), 1e4 * drawn(9, 2)):
        (found,) = session.run(None, {"x": x.numpy()})
        torch.testing.assert_close(in_eight_bits(x), torch.from_numpy(found))
