"""R-Drop: the second pass and its weight."""

from dataclasses import replace

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.methods.adapt._consistency import symmetric_divergence
from niwaki.methods.adapt.rdrop import RDrop
from niwaki.models.criteria import CrossEntropy
from niwaki.models.dropout import set_dropout
from niwaki.models.forward import forward

CONTEXT = replace(
    CONTEXT,
    soft_loss=CrossEntropy().soft_loss,
    outputs_loss=lambda outputs, batch: CrossEntropy().loss(outputs.logits, batch),
)


def passed(model, batch, seed):
    torch.manual_seed(seed)
    return forward(model.anatomy, batch)


def test_both_losses_and_the_divergence_of_the_second_pass_count():
    model = tiny.model("bert")
    batch = tiny.batch(model)
    set_dropout(model.network.train(), 0.3)
    first, second = passed(model, batch, 1), passed(model, batch, 2)
    divergence = symmetric_divergence(first.logits, second.logits, batch, CONTEXT)
    torch.manual_seed(2)
    found = RDrop(weight=3.0).loss(model, batch, first, torch.tensor(5.0), CONTEXT)
    assert float(divergence.detach()) > 0
    assert found.detach() == pytest.approx(
        float((5.0 + CrossEntropy().loss(second.logits, batch) + 3.0 * divergence).detach()) / 2
    )


def test_without_dropout_the_loss_stays():
    model = tiny.model("bert")
    batch = tiny.batch(model)
    set_dropout(model.network.train(), 0.0)
    outputs = forward(model.anatomy, batch)
    loss = CrossEntropy().loss(outputs.logits, batch)
    assert torch.allclose(RDrop().loss(model, batch, outputs, loss, CONTEXT), loss)
