"""Averaged weights in place of the trained ones, for a while or for good."""

import torch
from torch import nn

from niwaki.train.weight_averages import put_weights, replaced_weights


def linear() -> nn.Linear:
    module = nn.Linear(2, 1)
    nn.init.constant_(module.weight, 3.0)
    nn.init.constant_(module.bias, 1.0)
    return module


def test_averages_replace_weights_inside_the_block_only():
    module = linear()
    with replaced_weights(module, {"weight": torch.full((1, 2), 5.0)}):
        assert (module.weight == 5).all() and (module.bias == 1).all()
    assert (module.weight == 3).all()


def test_averages_stay_if_they_are_put():
    module = linear()
    put_weights(module, {"bias": torch.tensor([7.0])})
    assert (module.bias == 7).all() and (module.weight == 3).all()
