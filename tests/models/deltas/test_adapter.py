"""The bottleneck adapter by hand."""

import pytest
import torch
from torch import nn

from niwaki.models.deltas._delta import Tuned
from niwaki.models.deltas.adapter import Adapter, AdapterSettings


def test_it_adds_the_bottleneck_to_the_output():
    """y = x; down (1, −2) · (3, 1) + 1 = 2, ReLU keeps it; up (10, 20) + (0.5, 0): y + (20.5, 40)."""
    base = nn.Linear(2, 2, bias=False)
    base.weight.data = torch.eye(2)
    delta = Adapter(2, 2, AdapterSettings(reduction=2, activation="relu"))
    delta.down.weight.data, delta.down.bias.data = torch.tensor([[1.0, -2.0]]), torch.ones(1)
    delta.up.weight.data, delta.up.bias.data = torch.tensor([[10.0], [20.0]]), torch.tensor([0.5, 0.0])
    assert Tuned(base, delta)(torch.tensor([3.0, 1.0])).tolist() == [23.5, 41.0]
    assert Tuned(base, delta)(torch.tensor([0.0, 1.0])).tolist() == [0.5, 1.0]  # below 0: the bias of `up` alone


@pytest.mark.parametrize("outputs, reduction, size", [(32, 16, 2), (32, 100, 1), (30, 4, 8), (7, 1, 7)])
def test_the_reduction_decides_the_size(outputs, reduction, size):
    delta = Adapter(5, outputs, AdapterSettings(reduction=reduction))
    assert delta.down.out_features == size == delta.up.in_features and delta.down.in_features == outputs
