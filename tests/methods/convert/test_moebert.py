"""Experts that share the most important neurons."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.convert.moebert import Moebert, dealt
from niwaki.models.forward import forward


def test_neurons_are_dealt_out_by_importance():
    worth = torch.tensor([0.1, 0.9, 0.3, 0.8, 0.2, 0.7, 0.6])  # in order: 1, 3, 5, 6, 2, 4, 0
    assert dealt(worth, shared=2, own=2, experts=2) == [[2, 5], [4, 6], [1, 3]]
    assert dealt(worth, shared=0, own=1, experts=3) == [[1], [3], [5]]


def test_experts_that_together_have_all_neurons_and_are_all_active_change_nothing():
    model = tiny.model("bert")
    model.network.eval()
    batch = tiny.batch(model)
    wanted = forward(model.anatomy, batch).logits.detach()
    method = Moebert(experts=2, active=2, keep=0.999, shared=0.25)  # 16 shared and 2 times 24
    found = forward(method.prepare(model, CONTEXT).anatomy, batch).logits.detach()
    torch.testing.assert_close(found, wanted, atol=2e-6, rtol=0)


def test_sizes_follow_from_the_settings():
    model = Moebert(experts=4, keep=0.25, shared=0.5).prepare(tiny.model("bert"), CONTEXT)
    assert [block.ffn_size for block in model.anatomy.blocks] == [8, 8, 8, 8, 8] * 3


def test_more_neurons_than_there_are_are_rejected():
    with pytest.raises(InputError, match="layer 0 has 64 neurons, too few for 8 experts that keep"):
        Moebert(experts=8, keep=0.5).dry_prepare(tiny.model("bert"))
