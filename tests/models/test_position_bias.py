"""What families with relative positions add to attention scores."""

import pytest
import torch

import tiny
from niwaki.models.layout import Padded
from niwaki.models.position_bias import position_bias, set_position_bias


@torch.no_grad()
@pytest.mark.parametrize("family", ["mpnet", "bert"])
def test_a_layout_makes_the_bias_when_it_is_first_read(family):
    anatomy, hidden = tiny.model(family).anatomy, torch.zeros(2, 7, 32)
    layout = Padded(torch.ones(2, 7), hidden)
    set_position_bias(anatomy, hidden, layout)
    wanted = position_bias(anatomy, hidden)
    if family == "bert":
        assert wanted is None and layout.position_bias is None and layout.bias_at is None
        return
    assert wanted.shape == (1, 4, 7, 7) and torch.equal(layout.position_bias, wanted)
    assert layout.position_bias is layout.position_bias
    distances = torch.tensor([-6, 0, 3])  # from query to key
    assert torch.allclose(
        layout.bias_at(distances), torch.stack([wanted[0, :, 6, 0], wanted[0, :, 2, 2], wanted[0, :, 1, 4]])
    )
