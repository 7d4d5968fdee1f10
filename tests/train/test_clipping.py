"""Clipping within the optimizer's step does what torch's own clipping does before it."""

import pytest
import torch
from torch import nn

from niwaki.train.clipping import clip_in


@pytest.mark.parametrize("limit", [0.1, 1.0, 1e6])
def test_a_step_with_clipping_equals_one_after_torch_clipped(limit):
    torch.manual_seed(0)
    networks = [nn.Linear(30, 7), nn.Linear(30, 7)]
    networks[1].load_state_dict(networks[0].state_dict())
    optimizers = [torch.optim.AdamW(one.parameters(), lr=0.1, eps=0.1, fused=True) for one in networks]
    for _ in range(3):
        rows = torch.randn(5, 30)
        for network, optimizer in zip(networks, optimizers, strict=True):
            network(rows).square().sum().backward()
            if optimizer is optimizers[0]:
                clip_in(optimizer, network.parameters(), limit)
            else:
                nn.utils.clip_grad_norm_(network.parameters(), limit)
            optimizer.step()
            optimizer.zero_grad()
    torch.testing.assert_close(networks[0].weight, networks[1].weight)
