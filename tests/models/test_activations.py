"""Activations by name: computed, counted and shaped."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.models.activations import LOGITS, named, numbers, run_with, shaped
from niwaki.models.forward import forward

NAMES = ("hidden.0", "hidden.3", "scores.1", "queries.2", "keys.0", "values.1")


def test_names_join_what_and_depth():
    assert named("hidden", [0, 2]) == {"hidden.0", "hidden.2"}


@pytest.mark.parametrize("head", ["SequenceClassification", "TokenClassification"])
@torch.no_grad()
def test_activations_are_those_of_the_forward_pass(head):
    model = tiny.model("bert", head=head)
    batch = tiny.batch(model)
    outputs = forward(model.anatomy, batch, frozenset(name.split(".")[0] for name in NAMES))
    logits, *found = run_with(model.anatomy, batch.inputs, NAMES)
    real = batch.mask.bool()
    for name, value in zip(NAMES, found, strict=True):
        what, depth = name.split(".")
        wanted = getattr(outputs, what)[int(depth)]
        if what == "scores":  # (batch, heads, tokens, tokens)
            both = real[:, None, :, None] & real[:, None, None, :]
            wanted, value = (one.masked_fill(~both, 0.0) for one in (wanted, value))
            torch.testing.assert_close(value, wanted, atol=1e-4, rtol=0)
        else:
            torch.testing.assert_close(value[real], wanted[real], atol=1e-5, rtol=0)
    own, wanted = ((one[real] if one.ndim == 3 else one) for one in (logits, outputs.logits))
    torch.testing.assert_close(own, wanted, atol=1e-5, rtol=0)


@torch.no_grad()
def test_logits_are_the_same_bits_whatever_is_named():
    model = tiny.model("bert")
    inputs = tiny.batch(model).inputs
    assert torch.equal(run_with(model.anatomy, inputs, [])[0], run_with(model.anatomy, inputs, NAMES)[0])


@pytest.mark.parametrize("head", ["SequenceClassification", "TokenClassification"])
def test_numbers_are_counted_by_length(head):
    """3 tokens and 5: hidden size 32, 4 heads of size 8, 2 labels."""
    anatomy, lengths = tiny.model("bert", head=head).anatomy, np.array([3, 5])
    per_token = head == "TokenClassification"
    assert numbers(anatomy, LOGITS, lengths).tolist() == ([6, 10] if per_token else [2, 2])
    assert numbers(anatomy, "hidden.2", lengths).tolist() == [96, 160]
    assert numbers(anatomy, "scores.0", lengths).tolist() == [36, 100]
    assert numbers(anatomy, "keys.1", lengths).tolist() == [96, 160]


def test_numbers_take_their_shape_again():
    assert shaped(np.arange(2), LOGITS, 3, per_token=False).shape == (2,)
    assert shaped(np.arange(6), LOGITS, 3, per_token=True).shape == (3, 2)
    assert shaped(np.arange(96), "hidden.1", 3, per_token=False).shape == (3, 32)
    scores = shaped(np.arange(36), "scores.1", 3, per_token=False)
    assert scores.shape == (4, 3, 3) and scores[1, 0, 0] == 9
