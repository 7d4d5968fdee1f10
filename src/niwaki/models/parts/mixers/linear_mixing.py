"""Learned linear mixing (the variant "linear" of FNet, Lee-Thorp et al. 2021): one matrix over tokens and one over hidden states."""

from typing import ClassVar

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.settings import Settings, setting
from niwaki.models.layout import Layout
from niwaki.models.parts.mixers._mixer import Mixer
from niwaki.models.record import Record


class LinearMixingSettings(Settings):
    tokens: int = setting(512, "tokens of the longest text", ge=1, le=65_536)


class LinearMixing(Mixer, nn.Module):
    """A shorter text uses the first rows and columns of the matrix over tokens."""

    no_native = "a text would be read as a matrix"
    settings = LinearMixingSettings
    from_hidden: ClassVar[tuple[str, ...]] = ("hidden",)
    to_hidden: ClassVar[tuple[str, ...]] = ("hidden",)

    def __init__(self, hidden_size: int, settings: LinearMixingSettings) -> None:
        nn.Module.__init__(self)
        self.max_tokens = settings.tokens
        self.hidden = nn.Linear(hidden_size, hidden_size)
        self.tokens = nn.Parameter(torch.randn(settings.tokens, settings.tokens) * settings.tokens**-0.5)

    @property
    def matrices(self) -> tuple[str, ...]:
        return self.to_hidden

    def forward(self, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        length = layout.mask.shape[1]
        if not torch.jit.is_tracing() and length > self.max_tokens:
            raise InputError(
                f"linear_mixing: a text has {length} tokens, and the layer mixes {self.max_tokens}; cut texts (data.max_tokens)"
            )
        if layout.causal:
            raise InputError("linear_mixing: every token sees all here; take 'window' for causal models")
        states = layout.unpack(self.hidden(rows)) * layout.mask[..., None].to(rows.dtype)
        return layout.pack(self.tokens[:length, :length].to(states.dtype) @ states)
