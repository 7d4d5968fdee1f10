"""Prefix language modeling: masks and places by hand, lengths by their distribution, and logits that see no later token."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from niwaki.models.forward import NO_LABEL, forward
from niwaki.objectives.prefix_lm import drawn_prefixes, prefix_mask

from .predicting import corrupted, generator, prepared


def test_the_prefix_is_read_both_ways_and_the_rest_from_the_left():
    assert prefix_mask(torch.tensor([2, 1]), 4).int().tolist() == [
        [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]],
        [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]],
    ]


def test_lengths_of_prefixes_are_uniform():
    lengths = torch.full((12_000,), 9)
    counts = np.bincount(drawn_prefixes(lengths, 1.0, generator()).numpy(), minlength=9)
    assert counts[0] == 0 and len(counts) == 9 and chisquare(counts[1:]).pvalue > 1e-3
    assert set(drawn_prefixes(lengths, 0.5, generator()).tolist()) == {1, 2, 3, 4}
    assert drawn_prefixes(torch.tensor([1, 2]), 1.0, generator()).tolist() == [1, 1]


def test_tokens_behind_the_prefix_are_predicted_at_the_place_before_them():
    _, _, before, after = corrupted("prefix_lm")
    ids = before.inputs["input_ids"]
    prefixes = after.visible[:, 0].sum(dim=1)
    for row, (length, prefix) in enumerate(zip(before.mask.sum(dim=1).tolist(), prefixes.tolist(), strict=True)):
        wanted = list(range(prefix - 1, length - 2))  # the last token is special
        assert after.predicted[row].nonzero()[:, 0].tolist() == wanted
        assert after.targets[row, wanted].tolist() == ids[row, prefix : length - 1].tolist()
    assert len(set(prefixes.tolist())) > 1


@torch.no_grad()
def test_loss_equals_that_of_transformers_with_the_same_mask():
    from transformers import BertForMaskedLM

    model, objective, before, after = corrupted("prefix_lm")
    config = type(model.network.config)(**{**model.network.config.to_dict(), "is_decoder": False})
    reference = BertForMaskedLM(config).eval()
    reference.load_state_dict(model.network.state_dict(), strict=False)
    allowed = after.visible & before.mask.bool()[:, None]
    bias = torch.where(allowed, 0.0, torch.finfo(torch.float32).min)[:, None]
    labels = torch.where(after.predicted, after.targets, NO_LABEL)
    wanted = reference(**{**after.inputs, "attention_mask": bias}, labels=labels).loss
    torch.testing.assert_close(objective.loss(forward(model.anatomy, after), after), wanted, atol=1e-5, rtol=0)


@torch.no_grad()
def test_a_prefix_of_one_token_is_causal_language_modeling():
    model, objective, _, after = corrupted({"use": "prefix_lm", "longest": 0.01})
    _, causal, _, wanted = corrupted("causal_lm")
    assert torch.equal(after.predicted, wanted.predicted)
    first, second = (
        objective.loss(forward(model.anatomy, after), after),
        causal.loss(forward(model.anatomy, wanted), wanted),
    )
    torch.testing.assert_close(first, second, atol=1e-6, rtol=0)
    assert prepared("prefix_lm")[0].anatomy.is_causal  # the saved model


@pytest.mark.parametrize("seed", [1, 2, 3])
@torch.no_grad()
def test_later_tokens_change_no_logits(seed):
    model, _, _, after = corrupted("prefix_lm", seed=seed)
    wanted = forward(model.anatomy, after).logits
    prefix = int(after.visible[0, 0].sum())
    last = int(after.mask[0].sum()) - 1
    ids = after.inputs["input_ids"].clone()
    ids[0, last] = 9  # read by nothing that is predicted in this row
    found = forward(model.anatomy, replace(after, inputs={**after.inputs, "input_ids": ids})).logits
    assert prefix < last
    torch.testing.assert_close(found, wanted, atol=1e-6, rtol=0)
