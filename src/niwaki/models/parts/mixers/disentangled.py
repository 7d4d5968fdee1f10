"""Disentangled attention (He et al. 2021): scores are sums of content to content, content to distance and distance to content."""

import torch
from torch import Tensor

from niwaki.models.attention import split_heads
from niwaki.models.parts.mixers.attention import Attention
from niwaki.models.relative_positions import RelativePositions


class Disentangled(Attention):
    native = None
    no_native = "scores have products with vectors of distances"
    relative = True

    @property
    def terms(self) -> list[str]:
        return list(self.layer.part("attention_module").pos_att_type)

    @property
    def scale(self) -> float:
        return float((self.head_size * (1 + len(self.terms))) ** -0.5)

    @property
    def constants(self) -> tuple[object, ...]:
        positions = self.positions
        return *super().constants, *self.terms, positions.buckets, positions.longest

    @property
    def positions(self) -> RelativePositions:
        found = self.layer.part("attention_module").positions
        assert isinstance(found, RelativePositions)
        return found

    def relative_scores(
        self, query: Tensor, key: Tensor, tokens: int, every: bool, types: Tensor | None = None
    ) -> Tensor | None:
        module = self.layer.part("attention_module")
        rows, places = self.positions.places(tokens)
        vectors = module.pos_dropout(self.positions.vectors(rows))[None]  # (1, rows, hidden)
        found = None
        if "c2p" in self.terms:
            by_row = query @ self._projected("key", vectors).transpose(-1, -2)  # (batch, heads, queries, rows)
            found = pick(by_row, places if every else places[:1])
        if "p2c" in self.terms:
            by_row = key @ self._projected("query", vectors).transpose(-1, -2)  # (batch, heads, tokens, rows)
            turned = pick(by_row, (places if every else places[:1]).T).transpose(-1, -2)
            found = turned if found is None else found + turned
        return None if found is None else found * self.scale

    def _projected(self, role: str, vectors: Tensor) -> Tensor:
        """(1, heads, rows, head size)"""
        return split_heads(self.layer.part(role)(vectors), self.head_size)


def pick(by_row: Tensor, places: Tensor) -> Tensor:
    """(batch, heads, n, rows) at places (n, m): (batch, heads, n, m)."""
    if torch.jit.is_tracing():  # an expanded size would be fixed in exported graphs
        return by_row.gather(-1, places + (by_row[..., :1] * 0).long())
    return by_row.gather(-1, places.expand(*by_row.shape[:2], -1, -1))
