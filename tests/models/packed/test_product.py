"""Products with packed weights: torch's own gradients, without a saved matrix of floats."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.low_bit import LowBit
from niwaki.models.packed.product import product
from niwaki.models.packed.store import StoredLinear


def packed(kind: str) -> nn.Module:
    torch.manual_seed(0)
    dense = nn.Linear(24, 10)
    return Int8Linear.of(dense) if kind == "int8" else StoredLinear(LowBit.of(dense.weight, 16, 8), dense.bias)


@pytest.mark.parametrize("shape", [(5, 24), (2, 3, 24), (24,)])
@pytest.mark.parametrize("kind", ["int8", "low_bit"])
def test_gradients_are_those_of_the_unpacked_matrix(kind, shape):
    module = packed(kind)
    dense, x = module.to_dense(), torch.randn(shape, requires_grad=True)
    other, weights = x.detach().clone().requires_grad_(), torch.randn(*shape[:-1], 10)
    found = module(x)
    torch.testing.assert_close(found, functional.linear(other, dense.weight, dense.bias))
    (found * weights).sum().backward()
    (dense(other) * weights).sum().backward()
    torch.testing.assert_close(x.grad, other.grad)
    if kind == "low_bit":  # whose bias is trained
        torch.testing.assert_close(module.bias.grad, dense.bias.grad)


@pytest.mark.parametrize("kind", ["int8", "low_bit"])
def test_no_matrix_of_floats_is_saved_for_the_backward_pass(kind):
    module, saved = packed(kind), []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda value: saved.append(value.shape) or value, lambda value: value
    ):
        module(torch.randn(5, 24, requires_grad=True))
    assert not any(tuple(shape) in ((24, 10), (10, 24)) for shape in saved)


def test_autocast_multiplies_and_sends_gradients_back_in_bf16():
    weight, x = torch.randn(4, 6), torch.randn(3, 6, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = product(x, None, lambda: weight)
    assert found.dtype == torch.bfloat16
    found.float().sum().backward()
    torch.testing.assert_close(x.grad, weight.sum(dim=0).expand(3, 6), atol=0.05, rtol=0.05)
