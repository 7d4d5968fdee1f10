"""Learned linear mixing, next to its definition."""

import pytest
import torch

from niwaki.core.errors import InputError
from niwaki.models.layout import Packed, Padded
from niwaki.models.parts.mixers.linear_mixing import LinearMixing, LinearMixingSettings


def test_tokens_and_hidden_states_are_mixed_without_padding():
    mask = torch.tensor([[1, 1, 1], [1, 0, 0]])
    mixer = LinearMixing(4, LinearMixingSettings(tokens=5))
    states = torch.randn(2, 3, 4)
    inner = states @ mixer.hidden.weight.T + mixer.hidden.bias
    wanted = [mixer.tokens[:length, :length] @ inner[text, :length] for text, length in enumerate((3, 1))]
    poisoned = states.masked_fill(mask[..., None] == 0, 1e4)
    packed = Packed(mask)
    for found in (
        mixer.forward(poisoned, Padded(mask, states), {}),
        packed.unpack(mixer.forward(packed.pack(poisoned), packed, {})),
    ):
        torch.testing.assert_close(found[0], wanted[0])
        torch.testing.assert_close(found[1, :1], wanted[1])


def test_longer_texts_and_causal_models_are_rejected():
    mixer, mask = LinearMixing(4, LinearMixingSettings(tokens=2)), torch.ones(1, 3).long()
    with pytest.raises(InputError, match="a text has 3 tokens, and the layer mixes 2"):
        mixer.forward(torch.randn(3, 4), Packed(mask), {})
    with pytest.raises(InputError, match="take 'window'"):
        mixer.forward(torch.randn(2, 4), Packed(mask[:, :2], causal=True), {})
