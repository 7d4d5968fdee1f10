"""Attention with sinusoids of distances (Transformer-XL, Dai et al. 2019) and, in XLNet (Yang et al. 2019), of segments: a query adds vectors of
its own for contents, distances and segments."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from niwaki.models.attention import split_heads
from niwaki.models.parts.mixers.attention import Attention
from niwaki.models.parts.mixers.disentangled import pick
from niwaki.models.slicing import cut_linear

QUERY_VECTORS = ("r_w_bias", "r_r_bias", "r_s_bias")  # for contents, distances, segments: (heads, head size)
SEGMENTS = "seg_embed"  # of the same segment and of another one: (2, heads, head size)


class TransformerXl(Attention):
    native = None
    no_native = "scores have products with vectors of distances and segments"
    between = ("rel_attn.distance",)
    relative = True

    def relative_scores(
        self, query: Tensor, key: Tensor, tokens: int, every: bool, types: Tensor | None = None
    ) -> Tensor | None:
        module = self.layer.part("attention_module")
        content, distance, segment = (getattr(module, name)[:, None] for name in QUERY_VECTORS)  # (heads, 1, size)
        found = content @ key.transpose(-1, -2)  # (batch, heads, 1, tokens)
        by_row = (query + distance) @ self._distances(tokens, query).transpose(-1, -2)
        places = torch.arange(tokens, device=query.device)
        rows = places[:, None] - places[None] + tokens - 1  # of distances -tokens + 1, …, tokens - 1
        found = found + pick(by_row, rows if every else rows[:1])
        if types is not None:
            by_segment = (query + segment) @ getattr(module, SEGMENTS).permute(1, 2, 0)  # (batch, heads, queries, 2)
            first, rest = (types, types) if every else (types[:, :1], types)
            differs = first[:, None, :, None] != rest[:, None, None]
            found = found + torch.where(differs, by_segment[..., 1:], by_segment[..., :1])
        return found * self.scale

    def _distances(self, tokens: int, like: Tensor) -> Tensor:
        """Keys of the distances from -tokens + 1 to tokens - 1: (1, heads, distances, head size)."""
        module = self.layer.part("attention_module")
        rates = 10_000 ** (-torch.arange(0, module.d_model, 2, device=like.device).float() / module.d_model)
        angles = torch.arange(1 - tokens, tokens, device=like.device)[:, None] * rates
        waves = torch.cat([torch.sin(angles), torch.cos(angles)], dim=-1).to(like.dtype)
        return split_heads(module.distance(self.layer.drop("out_dropout", waves))[None], self.head_size)

    def keep_heads(self, heads: Sequence[int]) -> None:
        """Vectors of the heads that are left."""
        module = self.layer.part("attention_module")
        for name in (*QUERY_VECTORS, SEGMENTS):
            kept = getattr(module, name).detach()[..., list(heads), :].clone()
            setattr(module, name, nn.Parameter(kept))
        matrix = module.distance
        rows = [head * self.head_size + place for head in heads for place in range(self.head_size)]
        module.distance = cut_linear(matrix, outputs=rows)
