"""Window attention as a part: settings and what it rejects. Its arithmetic is tested in test_window_attention.py."""

import pytest
import torch

from niwaki.core.errors import InputError
from niwaki.models.layout import Packed
from niwaki.models.parts.mixers.window import Window, WindowSettings


def test_the_size_of_a_head_may_be_given():
    part = Window(12, WindowSettings(attention_heads=2, attention_head_size=5))
    assert part.query.out_features == 10 and part.out.in_features == 10 and part.scale == 5**-0.5
    assert Window(12, WindowSettings(attention_heads=3)).query.out_features == 12


def test_an_objective_that_hides_tokens_is_rejected():
    mask = torch.ones(1, 4).long()
    layout = Packed(mask, visible=torch.ones(1, 4, 4).bool())
    with pytest.raises(InputError, match="hides tokens from each other"):
        Window(8, WindowSettings()).forward(torch.randn(4, 8), layout, {})
