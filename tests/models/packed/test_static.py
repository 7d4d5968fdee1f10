"""8-bit products of inputs with a fixed range: numbers by hand, the engine, cutting."""

import io

import numpy as np
import onnxruntime
import pytest
import torch

from niwaki.models.packed.rounding import range_of, stepped
from niwaki.models.packed.static import StaticInt8Linear
from niwaki.models.slicing import cut_linear


def linear_int8(inputs: int = 40, outputs: int = 6) -> StaticInt8Linear:
    torch.manual_seed(0)
    return StaticInt8Linear.of(torch.nn.Linear(inputs, outputs), range_of(torch.tensor(-1.0), torch.tensor(4.1)))


def test_a_range_by_hand():
    step, zero = range_of(torch.tensor(-1.0), torch.tensor(4.1))
    assert float(step) == pytest.approx(0.02) and int(zero) == 50
    assert [float(value) for value in range_of(torch.tensor(2.55), torch.tensor(5.1))] == pytest.approx([0.02, 0])
    x = torch.tensor([0.0, 0.031, -0.03, -9.0, 9.0])
    torch.testing.assert_close(
        stepped(x, step, zero), torch.tensor([0.0, 0.04, -0.04, -1.0, 4.1])
    )  # halves to the even


def test_a_product_by_hand():
    linear = torch.nn.Linear(2, 1)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[1.27, -0.63]]))
        linear.bias.fill_(10.0)
    packed = StaticInt8Linear.of(linear, (torch.tensor(0.5), torch.tensor(10.0)))
    assert packed.weight.tolist() == [[127], [-63]]
    x = torch.tensor([[1.2, -100.0]], requires_grad=True)  # 1.0, and the end of the range: -10 steps
    found = packed(x)
    assert float(found.detach()) == pytest.approx(1.27 * 1.0 + 0.63 * 5.0 + 10)
    found.backward()
    torch.testing.assert_close(x.grad, torch.tensor([[1.27, -0.63]]))
    assert packed.bias.grad.tolist() == [1.0]


@pytest.mark.filterwarnings("ignore")
def test_the_engine_gives_the_same_numbers():
    packed, x = linear_int8(), 2 * torch.randn(300, 40)
    file = io.BytesIO()
    torch.onnx.export(
        packed, (x[:2],), file, dynamo=False, opset_version=17, input_names=["x"], dynamic_axes={"x": {0: "n"}}
    )
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": x.numpy()})
    np.testing.assert_allclose(found, packed(x).detach().numpy(), atol=1e-4)
    (alone,) = session.run(None, {"x": x[:1].numpy()})
    assert np.array_equal(alone, found[:1])


def test_cut_it_keeps_its_range_and_its_numbers():
    packed = linear_int8()
    x = torch.rand(5, 40)
    cut = cut_linear(packed, outputs=[4, 1], inputs=list(range(0, 40, 2)))
    assert isinstance(cut, StaticInt8Linear)
    assert torch.equal(cut.step, packed.step) and torch.equal(cut.zero, packed.zero)
    masked = x * (torch.arange(40) % 2 == 0)
    torch.testing.assert_close(cut(x[:, ::2]), packed(masked)[:, [4, 1]], atol=0.02, rtol=0)
    whole = cut_linear(packed, outputs=[4, 1])
    assert torch.equal(whole.weight, packed.weight[:, [4, 1]])


def test_a_matrix_without_bias():
    linear = torch.nn.Linear(3, 2, bias=False)
    packed = StaticInt8Linear.of(linear, range_of(torch.tensor(0.0), torch.tensor(1.0)))
    torch.testing.assert_close(packed(torch.eye(3)), linear.weight.T, atol=0.01, rtol=0)
