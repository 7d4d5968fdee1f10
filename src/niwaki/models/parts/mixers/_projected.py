"""Attention with matrices of its own, which can be put into a layer of any family: queries, keys, values, output."""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.settings import Settings, setting
from niwaki.models.attention import split_heads
from niwaki.models.layout import BiasAt, Layout, Packed
from niwaki.models.packed.removed import Removed
from niwaki.models.parts.mixers._mixer import Mixer
from niwaki.models.record import Record


class ProjectedSettings(Settings):
    attention_heads: int = setting(1, "number of heads", ge=1, le=4096)
    attention_head_size: int = setting(0, "size of a head; 0 divides the hidden size by the heads", ge=0, le=65_536)
    scaled: bool = setting(True, "whether scores are divided by the root of the head size")


class Projected(Mixer, nn.Module):
    """Subclasses define how values are mixed. Heads can be counted and cut as those of plain attention."""

    settings: ClassVar[type[Settings]] = ProjectedSettings
    from_hidden: ClassVar[tuple[str, ...]] = ("query", "key", "value")
    to_hidden: ClassVar[tuple[str, ...]] = ("out",)

    def __init__(self, hidden_size: int, settings: ProjectedSettings) -> None:
        nn.Module.__init__(self)
        self.width = settings.attention_head_size or hidden_size // settings.attention_heads
        inner = settings.attention_heads * self.width
        self.query, self.key, self.value = (nn.Linear(hidden_size, inner) for _ in range(3))
        self.out: nn.Linear | Removed = nn.Linear(inner, hidden_size)
        self.scale = self.width**-0.5 if settings.scaled else 1.0
        self.remaining: list[int] | None = None  # the first heads that are left; None: all

    @property
    def heads(self) -> int:  # type: ignore[override]
        return int(self.query.out_features) // self.width

    @property
    def head_size(self) -> int:  # type: ignore[override]
        return self.width

    @property
    def removed(self) -> bool:  # type: ignore[override]
        return isinstance(self.out, Removed)

    def keep_heads(self, heads: Sequence[int]) -> None:
        before = range(self.heads) if self.remaining is None else self.remaining
        self.remaining = [before[head] for head in heads]

    def forward(self, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        if self.removed:
            return self.out(rows)
        query, key, value = (getattr(self, role)(rows) for role in self.from_hidden)
        return self.out(layout.pack(self._mixed(layout.unpack(query), key, value, layout)))

    def forward_first(self, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        if self.removed or not self.reads_all_first:
            return super().forward_first(rows, layout, record)
        first = self.query(layout.by_sequence(layout.first(rows)))
        return layout.to_first(self.out(self._mixed(first, self.key(rows), self.value(rows), layout)))

    @property
    def reads_all_first(self) -> bool:
        """Whether `mix` gives for the first token alone what it gives for all."""
        return True

    def _mixed(self, query: Tensor, key: Tensor, value: Tensor, layout: Layout) -> Tensor:
        """Queries (batch, tokens or 1, heads × head size), keys and values as rows."""
        if isinstance(layout, Packed) and layout.selects:
            raise InputError(
                f"{self.label()}: this objective hides tokens from each other, and here they see all; take attention"
            )
        states = (query * self.scale, layout.unpack(key), layout.unpack(value))
        queries, keys, values = (split_heads(each, self.width) for each in states)
        return self.mix(queries, keys, values, layout)

    def mix(self, query: Tensor, key: Tensor, value: Tensor, layout: Layout) -> Tensor:
        """Scaled queries of all tokens or of the first alone, keys and values (batch, heads, tokens, head size), to mixed values (batch, tokens, heads × head size)."""
        raise NotImplementedError

    def bias_at(self, layout: Layout) -> BiasAt | None:
        """What a family adds to scores by distance, for the heads that are left."""
        every, remaining = layout.bias_at, self.remaining
        if every is None or remaining is None:
            return every
        heads = torch.tensor(remaining)
        return lambda distances: every(distances).index_select(distances.dim(), heads.to(distances.device))
