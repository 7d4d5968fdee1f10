"""Distillation of decoder layers."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.distill.decoder_kd import DecoderKd
from niwaki.models.forward import Batch, forward
from niwaki.models.record import DECODER_HIDDEN

from .outputs import context_with, decoder_of, states


def test_the_loss_is_the_mean_over_layers():
    """A student of two decoder layers follows the second and the fourth of its teacher: ((1 - 3)² + (2 - 7)²) / 2, truth 10."""
    context = Context(0, lambda given: states(50.0, 60.0, 3.0, 70.0, 7.0), decoder_of(4), None, None, None, None)
    batch = Batch({"attention_mask": torch.ones(1, 3)}, torch.tensor([[4, -100]]), torch.tensor([0]))
    student = states(40.0, 1.0, 2.0)
    assert DecoderKd(weight=0.5).loss(
        decoder_of(2), batch, student, torch.tensor(10.0), context
    ).item() == pytest.approx(10 + 0.5 * (4 + 25) / 2)
    assert DecoderKd(mapping="top").loss(
        decoder_of(2), batch, student, torch.tensor(0.0), context
    ).item() == pytest.approx((69**2 + 25) / 2)


@torch.no_grad()
def test_the_last_decoder_state_gives_the_logits():
    model = decoder_of(3)
    batch = tiny.batch(model)
    found = forward(model.anatomy, batch, frozenset({DECODER_HIDDEN}))
    assert len(found.decoder_hidden) == 4 and torch.equal(
        model.anatomy.decoder.logits(found.decoder_hidden[-1]), found.logits
    )
    assert torch.equal(found.decoder_hidden[0], model.network.decoder.embed(batch.inputs["decoder_input_ids"]))
    assert not forward(model.anatomy, batch).decoder_hidden


def test_incomparable_teachers_are_rejected():
    with pytest.raises(InputError, match="decoder_kd: the student has no decoder; use 'tinybert'"):
        DecoderKd().prepare(tiny.model(), context_with(decoder_of(2)))
    with pytest.raises(InputError, match="decoder_kd: the teacher has no decoder"):
        DecoderKd().prepare(decoder_of(2), context_with(tiny.model()))
    with pytest.raises(InputError, match="decoder has 3 layers, more than the teacher's 2"):
        DecoderKd().prepare(decoder_of(3), context_with(decoder_of(2)))
