"""Fourier mixing, next to torch's fast transform and transformers' FNet."""

import pytest
import torch

from niwaki.models.layout import Packed, Padded
from niwaki.models.parts.mixers.fourier import Fourier, FourierSettings, transformed


@pytest.mark.parametrize("tokens", [1, 2, 3, 17, 100, 512])
def test_a_transform_equals_that_of_torch(tokens):
    states = torch.randn(2, tokens, 48, generator=torch.Generator().manual_seed(tokens))
    wanted = torch.fft.fft2(states.double()).real
    found = transformed(states, torch.full((2, 1, 1), float(tokens)))
    torch.testing.assert_close(found, wanted.float(), atol=2e-5 * tokens**0.5, rtol=1e-4)


@pytest.mark.parametrize("scale", ["unit", "none"])
def test_each_sequence_has_its_own_transform_packed_and_padded(scale):
    lengths = [5, 1, 9, 3]
    mask = (torch.arange(9)[None] < torch.tensor(lengths)[:, None]).long()
    states = torch.randn(4, 9, 16, generator=torch.Generator().manual_seed(1))
    mixer = Fourier(16, FourierSettings(scale=scale))
    size = lambda length: (length * 16) ** 0.5 if scale == "unit" else 1.0  # noqa: E731
    wanted = [torch.fft.fft2(one[:length]).real / size(length) for one, length in zip(states, lengths, strict=True)]
    padded = mixer.forward(states.masked_fill(~mask.bool()[..., None], 1e4), Padded(mask, states), {})
    layout = Packed(mask)
    packed = layout.unpack(mixer.forward(layout.pack(states), layout, {}))
    for place, length in enumerate(lengths):
        torch.testing.assert_close(padded[place, :length], wanted[place], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(packed[place, :length], wanted[place], atol=1e-4, rtol=1e-4)


def test_the_unscaled_transform_is_that_of_fnet():
    from transformers.models.fnet.modeling_fnet import FNetBasicFourierTransform, FNetConfig

    config = FNetConfig(hidden_size=16, max_position_embeddings=12, use_tpu_fourier_optimizations=False)
    states = torch.randn(2, 12, 16, generator=torch.Generator().manual_seed(2))
    mask = torch.ones(2, 12).long()
    found = Fourier(16, FourierSettings(scale="none")).forward(states, Padded(mask, states), {})
    torch.testing.assert_close(found, FNetBasicFourierTransform(config)(states)[0], atol=1e-4, rtol=1e-4)
