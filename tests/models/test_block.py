"""Blocks of neurons: cut, shared and weighted, against the same product written out."""

import pytest
import torch
from torch import nn

from niwaki.models.block import Block


class Two(nn.Module):
    """relu(first(x)), between inputs of others, read twice by `second`: 2 others before, 1 after."""

    def __init__(self, neurons: int = 4) -> None:
        super().__init__()
        self.first, self.gate = nn.Linear(3, neurons), nn.Linear(3, neurons)
        self.second = nn.Linear(2 * (2 + neurons + 1), 5)

    def forward(self, x: torch.Tensor, others: torch.Tensor, factors: torch.Tensor | None = None) -> torch.Tensor:
        inner = torch.relu(self.gate(x)) * self.first(x)
        read = torch.cat([others[:, :2], inner, others[:, 2:]], dim=1).repeat(1, 2)
        return self.second(read if factors is None else read * factors)


@pytest.fixture
def module():
    torch.manual_seed(0)
    return Two()


def block_of(module: Two) -> Block:
    return Block(module, "first", "second", first=2, copies=2, gate_path="gate")


@torch.no_grad()
def test_remaining_neurons_give_what_all_give_with_the_others_off(module):
    x, others, block = torch.randn(6, 3), torch.randn(6, 3), block_of(module)
    assert block.ffn_size == 4 and block.producers == [module.first, module.gate]
    factors = block.factors(torch.tensor([0.0, 1.0, 0.0, 1.0]))
    assert factors.tolist() == 2 * [1, 1, 0, 1, 0, 1, 1]
    wanted = module(x, others, factors)
    block.keep([3, 1])
    assert block.ffn_size == 2 and module.second.in_features == 10
    torch.testing.assert_close(module(x, others), wanted)


def test_neurons_stay_in_the_given_order(module):
    before = module.first.weight.clone()
    block_of(module).keep([2, 0])
    assert torch.equal(module.first.weight, before[[2, 0]])


def test_shared_blocks_have_the_same_matrices(module):
    other = Two()
    block_of(other).share(block_of(module))
    assert other.first is module.first and other.gate is module.gate and other.second is module.second


def test_a_block_without_a_gate_has_one_producer(module):
    block = Block(module, "first", "second", first=2, copies=2)
    block.keep([1])
    assert block.producers == [module.first] and module.gate.out_features == 4
