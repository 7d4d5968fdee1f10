"""Initial weights of the averaging student."""

import torch

import tiny
from niwaki.methods.distill.averaging import Averaging, first_weights

from .students import context


def test_initial_weights_from_frequencies():
    """A token with a relative frequency of FREQUENT, 1 of 1000, has half the weight of an unused one."""
    found = first_weights({1: 1, 2: 999}, 4).exp()
    torch.testing.assert_close(found, torch.tensor([1.0, 0.5, 1 / 1000, 1.0]), atol=1e-6, rtol=1e-3)


def test_frequent_tokens_start_with_less_weight():
    student = Averaging(width=8).prepare(tiny.model("bert"), context())
    weights = student.network.body.embeddings.token_weights.weight[:, 0]
    number = student.tokenizer.convert_tokens_to_ids
    assert weights[number(".")] < weights[number("film")] < weights[number("z")] == 0
