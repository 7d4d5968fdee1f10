"""LoRA against the dense computation written out."""

import pytest
import torch
from torch import nn

from niwaki.core.errors import InputError
from niwaki.models.deltas._delta import Tuned
from niwaki.models.deltas.lora import Lora, LoraSettings


def test_it_adds_the_scaled_product():
    """down (1, 2) · x = 1·3 + 2·4 = 11; α/r = 6/1; up (1, −1): 66 and −66."""
    delta = Lora(2, 2, LoraSettings(rank=1, alpha=6.0))
    delta.down.weight.data = torch.tensor([[1.0, 2.0]])
    delta.up.weight.data = torch.tensor([[1.0], [-1.0]])
    base = nn.Linear(2, 2)
    base.weight.data, base.bias.data = torch.eye(2), torch.tensor([0.5, 0.5])
    found = Tuned(base, delta)(torch.tensor([3.0, 4.0]))
    assert found.tolist() == [3.5 + 66, 4.5 - 66]


def test_merged_equals_unmerged():
    torch.manual_seed(0)
    tuned = Tuned(nn.Linear(7, 5), Lora(7, 5, LoraSettings(rank=3, alpha=5.0)))
    nn.init.normal_(tuned.delta.up.weight)
    x = torch.randn(4, 9, 7)
    torch.testing.assert_close(tuned.to_dense()(x), tuned(x), atol=1e-5, rtol=0)


def test_dropout_acts_while_training_and_on_the_product_alone():
    tuned = Tuned(nn.Linear(8, 8), Lora(8, 8, LoraSettings(rank=8, dropout=0.5)))
    x = torch.randn(3, 8)
    assert torch.equal(tuned.train()(x), tuned.base(x))  # up is 0
    nn.init.normal_(tuned.delta.up.weight)
    assert not torch.equal(tuned.train()(x), tuned.eval()(x))


def test_a_rank_beyond_the_matrix_is_rejected():
    with pytest.raises(InputError, match="rank is 9, and a matrix is 4 × 32; choose at most 4"):
        Lora(32, 4, LoraSettings(rank=9))
