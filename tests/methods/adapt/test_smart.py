"""Adversarial smoothing: the perturbation and the loss."""

from dataclasses import replace

import pytest
import torch

import tiny
from calibrated import CONTEXT, drawn
from niwaki.core.errors import InputError
from niwaki.methods.adapt._consistency import symmetric_divergence
from niwaki.methods.adapt.smart import Smart, ascend
from niwaki.models.criteria import CrossEntropy
from niwaki.models.dropout import set_dropout
from niwaki.models.forward import forward, from_embedded
from niwaki.models.layout import Packed
from seq2seq import seq2seq_model

CONTEXT = replace(CONTEXT, soft_loss=CrossEntropy().soft_loss)


def test_a_step_of_ascent_by_hand():
    """The largest number of a token moves by the step; all are limited to the radius; padding has no gradient and stays."""
    gradient = torch.tensor([[[2.0, -4.0], [0.0, 0.0]]])
    change = torch.tensor([[[0.1, -0.2], [0.05, 0.0]]])
    expected = torch.tensor([[[0.2, -0.3], [0.05, 0.0]]])
    assert torch.allclose(ascend(change, gradient, step=0.2, radius=0.3), expected)


@pytest.fixture
def steady():
    model = tiny.model("bert")
    set_dropout(model.network.train(), 0.0)
    return model


def test_the_worst_perturbation_is_worse_than_random_ones(steady):
    """Of the same size, +0.3 or -0.3 in every number."""
    batch, embedded = tiny.batch(steady), steady.anatomy.inputs.forward(tiny.batch(steady).inputs)
    outputs = forward(steady.anatomy, batch)

    def divergence(seed):
        hidden = embedded + 0.3 * drawn(*embedded.shape, seed=seed).sign()
        logits = from_embedded(steady.anatomy, hidden, Packed(batch.mask), {})
        return float(symmetric_divergence(logits, outputs.logits, batch, CONTEXT).detach())

    torch.manual_seed(0)
    methods = [Smart(radius=0.3, steps=steps) for steps in (1, 4)]
    found = [float(one.loss(steady, batch, outputs, torch.tensor(0.0), CONTEXT).detach()) for one in methods]
    assert min(found) > 3 * max(map(divergence, range(5))) > 0


def test_it_is_added_to_the_loss_and_leaves_no_gradients_behind(steady):
    batch = tiny.batch(steady)
    outputs = forward(steady.anatomy, batch)
    losses = []
    for weight in (1.0, 2.0):
        torch.manual_seed(3)
        losses.append(Smart(weight=weight).loss(steady, batch, outputs, torch.tensor(5.0), CONTEXT))
    assert all(parameter.grad is None for parameter in steady.network.parameters())
    assert float(losses[1].detach()) - 5 == pytest.approx(2 * (float(losses[0].detach()) - 5), rel=0.05)
    losses[1].backward()
    assert steady.anatomy.tokens.weight.grad.abs().sum() > 0


def test_networks_that_cannot_be_perturbed_are_rejected():
    with pytest.raises(InputError, match="generates text"):
        Smart().dry_prepare(seq2seq_model())
    with pytest.raises(InputError, match="no attention layers"):
        Smart().dry_prepare(tiny.model("bilstm"))
