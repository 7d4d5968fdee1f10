"""Attention relations: divergences worked out by hand."""

import math

import pytest
import torch

import teaching
import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.distill.attention_relations import AttentionRelations, divergence
from niwaki.models.forward import Outputs

from .outputs import context_with, soft, two_tokens


def test_a_teacher_without_layers_is_rejected():
    with pytest.raises(InputError, match="attention_relations"):
        AttentionRelations().check_teacher(tiny.model("bert"), tiny.model("bilstm"))


def test_the_loss_is_the_divergence_of_relations():
    """One head of width 1, tokens (1, 2) against a teacher of width 4 that says 0: its relations are even, 1/2 and 1/2.

    The student's: products (1, 2) and (2, 4), softmax over two: σ = 1/(1+e^d) with d = 1 and 2."""

    def kl(difference):
        small = 1 / (1 + math.exp(difference))
        return 0.5 * math.log(0.5 / small) + 0.5 * math.log(0.5 / (1 - small))

    own = torch.tensor([[[1.0], [2.0]]])
    expected = (kl(1.0) + kl(2.0)) / 2
    assert divergence(own, torch.zeros(1, 2, 4), torch.tensor([[1, 1]]), 1).item() == pytest.approx(expected)
    padded = torch.tensor([[[1.0], [2.0], [50.0]]])
    assert divergence(padded, torch.zeros(1, 3, 4), torch.tensor([[1, 1, 0]]), 1).item() == pytest.approx(expected)
    states = dict.fromkeys(("queries", "keys", "values"), (own,))
    theirs = {what: {5: torch.zeros(1, 2, 4)} for what in states}
    none = torch.zeros(1, 2)
    context = Context(0, lambda given: Outputs(none, **theirs), teaching.layers(6), None, None, soft, None)
    method = AttentionRelations(weight=2.0, truth=0.5, heads=1)
    total = method.loss(None, two_tokens(), Outputs(none, **states), torch.tensor(4.0), context)
    assert total.item() == pytest.approx(2 + 2 * 3 * expected)


def test_products_are_scaled_by_the_head_size():
    """Tokens (2, 0) and (0, 2): products 4 and 0, over √2."""
    own = torch.tensor([[[2.0, 0.0], [0.0, 2.0]]])
    small = 1 / (1 + math.exp(4 / math.sqrt(2)))
    expected = 0.5 * math.log(0.5 / small) + 0.5 * math.log(0.5 / (1 - small))
    assert divergence(own, torch.zeros(1, 2, 2), torch.tensor([[1, 1]]), 1).item() == pytest.approx(expected)


def test_any_hidden_size_that_the_heads_divide_is_accepted():
    AttentionRelations().prepare(tiny.model(width=16, heads=2), context_with(tiny.model(width=32, heads=4)))
    assert AttentionRelations().teacher_activations(tiny.model(), tiny.model(layers=3)) == {
        "queries.2",
        "keys.2",
        "values.2",
    }
    assert AttentionRelations(layer=2).teacher_activations(tiny.model(), tiny.model(layers=3)) == {
        "queries.1",
        "keys.1",
        "values.1",
    }
    with pytest.raises(InputError, match="5 heads do not divide the 16 numbers of the student's"):
        AttentionRelations(heads=5).prepare(tiny.model(width=16, heads=2), context_with(tiny.model()))
    with pytest.raises(InputError, match="layer 9 is more than the teacher's 3"):
        AttentionRelations(layer=9).prepare(tiny.model(), context_with(tiny.model()))
