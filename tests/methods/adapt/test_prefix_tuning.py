"""Prefix tuning as a method: size, and the same start for the same seed."""

from dataclasses import replace

import torch

import tiny
from calibrated import CONTEXT
from niwaki.methods.adapt.prefix_tuning import PrefixTuning
from niwaki.models.trunk import is_of_delta


def deltas(seed):
    model = PrefixTuning(tokens=6).prepare(tiny.model("bert"), replace(CONTEXT, seed=seed))
    return {name: value for name, value in model.network.state_dict().items() if is_of_delta(name)}


def test_every_layer_has_keys_and_values_drawn_from_the_seed():
    first, same, other = deltas(1), deltas(1), deltas(2)
    assert [tuple(value.shape) for value in first.values()] == [(6, 32)] * 6
    assert all(torch.equal(first[name], same[name]) and not torch.equal(first[name], other[name]) for name in first)
