import pytest
import torch

from models.fused.comparing import compiled, linear, poisoned
from niwaki.models.fused.products import multiply, multiply_back, weight_gradient

pytestmark = compiled


def test_a_product_changes_nothing_but_its_outputs() -> None:
    rows, module = poisoned(7, 34).detach(), linear(34, 50)
    around = torch.full((9, 90), 3.0, dtype=torch.bfloat16)
    multiply(rows, module.weight, module.bias, around[1:-1, 20:70])
    outside = around.clone()
    outside[1:-1, 20:70] = 3.0
    assert (outside == 3).all() and around.isfinite().all()


def test_stacked_weights_add_up_in_the_gradient_of_their_rows() -> None:
    one, other, gradient = linear(20, 6).weight, linear(20, 10).weight, poisoned(5, 16).detach()
    found = torch.empty(5, 20, dtype=torch.bfloat16)
    multiply_back(gradient, [one.detach(), other.detach()], found)
    expected = gradient.float() @ torch.cat([one, other])
    assert torch.allclose(found.float(), expected, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("tokens", [1, 2, 31])
def test_gradients_of_weights_are_summed_in_fp32(tokens: int) -> None:
    gradient, rows = poisoned(tokens, 10).detach(), poisoned(tokens, 50, seed=1).detach()
    weight, bias = weight_gradient(gradient, rows)
    assert torch.allclose(weight, gradient.float().t() @ rows.float(), atol=1e-4)
    assert torch.allclose(bias, gradient.float().sum(0), atol=1e-5)
