"""Sliding-window attention with global tokens (Longformer, Beltagy et al. 2020): time and memory grow linearly with the text."""

from typing import ClassVar

from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.settings import Settings, setting
from niwaki.models.attention import split_heads
from niwaki.models.layout import Layout, Packed
from niwaki.models.parts.mixers._mixer import Mixer
from niwaki.models.record import Record
from niwaki.models.window_attention import Reach, window_attention


class WindowSettings(Settings):
    window: int = setting(64, "tokens on each side that a token attends to", ge=1, le=65_536)
    global_tokens: int = setting(1, "first tokens of a text that attend to all, and all to them", ge=0, le=1024)
    attention_heads: int = setting(1, "number of heads", ge=1, le=4096)
    attention_head_size: int = setting(0, "size of a head; 0 divides the hidden size by the heads", ge=0, le=65_536)
    scaled: bool = setting(True, "whether scores are divided by the root of the head size")
    dropout: float = setting(0.0, "share of attention weights dropped while training", ge=0, lt=1)


class Window(Mixer, nn.Module):
    """A window that reaches over the whole text is plain attention."""

    settings = WindowSettings
    from_hidden: ClassVar[tuple[str, ...]] = ("query", "key", "value")
    to_hidden: ClassVar[tuple[str, ...]] = ("out",)

    def __init__(self, hidden_size: int, settings: WindowSettings) -> None:
        nn.Module.__init__(self)
        self.window, self.global_tokens = settings.window, settings.global_tokens
        self.width = settings.attention_head_size or hidden_size // settings.attention_heads
        inner = settings.attention_heads * self.width
        self.query, self.key, self.value = (nn.Linear(hidden_size, inner) for _ in range(3))
        self.out = nn.Linear(inner, hidden_size)
        self.drop = nn.Dropout(settings.dropout)
        self.scale = self.width**-0.5 if settings.scaled else 1.0

    def forward(self, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        query, key, value = (getattr(self, role)(rows) for role in self.from_hidden)
        if isinstance(layout, Packed) and layout.selects:
            raise InputError("window: this objective hides tokens from each other, and windows see all; take attention")
        reach = Reach(self.window, self.global_tokens, layout.causal)
        query, key, value = (split_heads(layout.unpack(each), self.width) for each in (query * self.scale, key, value))
        mixed = window_attention(query, key, value, layout.mask, reach, layout.position_bias, self.drop)
        return self.out(layout.pack(mixed))
