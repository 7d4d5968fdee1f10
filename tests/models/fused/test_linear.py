import pytest
import torch
from torch import nn
from torch.nn import functional

from models.fused.comparing import assert_same, compiled, linear, poisoned
from niwaki.models.fused.linear import fits, product, side_by_side
from niwaki.models.fused.linear import linear as fused

pytestmark = compiled


@pytest.mark.parametrize("shape", [(1, 2, 2), (7, 34, 66), (13, 64, 48), (33, 312, 130), (100, 384, 384)])
@pytest.mark.parametrize("bias", [True, False])
def test_outputs_and_gradients_agree_with_torch(shape: tuple[int, int, int], bias: bool) -> None:
    tokens, inputs, outputs = shape
    rows, modules = poisoned(tokens, inputs), [linear(inputs, outputs, bias), linear(inputs, outputs + 2, bias)]
    parameters = [parameter for module in modules for parameter in module.parameters()]
    assert_same(
        lambda: torch.cat(fused(rows, modules), dim=1),
        lambda: torch.cat([functional.linear(rows.float(), one.weight, one.bias) for one in modules], dim=1),
        [rows, *parameters],
    )


def test_one_and_two_threads_give_the_same_outputs() -> None:
    rows, module = poisoned(50, 96), linear(96, 130)
    before, found = torch.get_num_threads(), []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append(fused(rows, [module])[0])
    torch.set_num_threads(before)
    assert torch.equal(*found)


def test_frozen_weights_get_no_gradient() -> None:
    rows, module = poisoned(5, 8), linear(8, 4)
    module.requires_grad_(False)
    fused(rows, [module])[0].sum().backward()
    assert rows.grad is not None and module.weight.grad is None


def test_odd_sizes_and_other_formats_are_left_to_torch() -> None:
    rows = torch.zeros(3, 8, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        assert fits(rows, [nn.Linear(8, 4)])
        assert not fits(rows, [nn.Linear(8, 5)])
        assert not fits(rows.float(), [nn.Linear(8, 4)])
        assert not fits(rows, [nn.Linear(8, 4).bfloat16()])
        with torch.no_grad():
            assert not fits(rows, [nn.Linear(8, 4)])
    assert not fits(rows, [nn.Linear(8, 4)])


def test_neighbours_in_memory_are_joined_without_copying() -> None:
    whole = torch.arange(12.0).view(2, 6)
    assert side_by_side(whole.split([2, 4], dim=1)).data_ptr() == whole.data_ptr()
    apart = [whole[:, :2].clone(), whole[:, 2:].clone()]
    assert torch.equal(side_by_side(apart), whole)


@pytest.mark.parametrize("shape", [(1, 2, 2), (21, 64, 130)])
def test_products_with_a_table_agree_with_torch(shape: tuple[int, int, int]) -> None:
    tokens, inputs, outputs = shape
    rows, module = poisoned(tokens, inputs), linear(inputs, outputs, bias=False)
    bias = torch.linspace(-1, 1, outputs).requires_grad_()
    assert_same(
        lambda: product(rows, module.weight, bias),
        lambda: functional.linear(rows.float(), module.weight, bias),
        [rows, module.weight, bias],
    )
