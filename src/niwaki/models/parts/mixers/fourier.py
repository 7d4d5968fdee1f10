"""Fourier mixing (FNet, Lee-Thorp et al. 2021): the real part of the transform over tokens and hidden states, without parameters."""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from niwaki.core.settings import Settings, setting
from niwaki.models.layout import Layout
from niwaki.models.parts.mixers._mixer import Mixer
from niwaki.models.record import Record


class FourierSettings(Settings):
    scale: Literal["unit", "none"] = setting(
        "unit", "unit keeps the size of the hidden states; none is the plain sum, as in published checkpoints"
    )


class Fourier(Mixer, nn.Module):
    """Each sequence is transformed over its own length, so padding and other sequences of a batch do not change it.

    Products with cosines and sines instead of a fast transform: they fit every length, are plain ONNX, and need half the operations
    of attention at hidden sizes around 384.
    """

    no_native = "its cosines depend on each text's length, and a text would be read as a matrix"
    settings = FourierSettings

    def __init__(self, hidden_size: int, settings: FourierSettings) -> None:
        nn.Module.__init__(self)
        self.is_unit = settings.scale == "unit"

    def forward(self, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        lengths = layout.mask.sum(dim=1)[:, None, None]
        tokens = layout.unpack(rows) * layout.mask[..., None].to(rows.dtype)
        mixed = transformed(tokens, lengths.float())
        if self.is_unit:
            mixed = mixed / (lengths * rows.shape[-1]).to(rows.dtype).sqrt()
        return layout.pack(mixed)


def transformed(tokens: Tensor, lengths: Tensor) -> Tensor:
    """The real part of the Fourier transform of hidden states (batch, tokens, hidden), 0 behind the `lengths` (batch, 1, 1)."""
    cosine, sine = (wave.to(tokens.dtype) for wave in waves(tokens.shape[2], tokens.shape[2], tokens.device))
    own_cosine, own_sine = (wave.to(tokens.dtype) for wave in waves(tokens.shape[1], lengths, tokens.device))
    return own_cosine @ (tokens @ cosine) - own_sine @ (tokens @ sine)


def waves(count: int, period: Tensor | int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Cosines and sines of 2π i j / period for all i, j < count. i j is a whole number: it is reduced by the period first, because large
    angles lose digits."""
    places = torch.arange(count, device=device, dtype=torch.float32)
    product = places[:, None] * places[None, :]
    angles = 2 * math.pi * (product - period * torch.floor(product / period)) / period
    return torch.cos(angles), torch.sin(angles)
