"""Packed sequences of similar length side by side in a rectangle, in which their attention is computed."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from niwaki.models.attention import MASKED_SCORE, attend, causal_bias, split_heads, window_bias
from niwaki.models.row_places import Gather, Scatter

if TYPE_CHECKING:
    from niwaki.models.parts.mixers.attention import Attention

SIMILAR, SLACK_TOKENS = 1.25, 8  # sequences share a rectangle up to this ratio of lengths, and this many tokens more


class SequenceGroup:
    """Sequences of similar length that share a rectangle during attention."""

    def __init__(self, lengths: list[int], device: torch.device, causal: bool) -> None:
        self.sequences, self.tokens, self.rows = len(lengths), max(lengths), sum(lengths)
        self.places: Tensor | None = None
        self.mask_bias: Tensor | None = None
        self.types: Tensor | None = None
        self.real: Tensor | None = None  # (sequences, tokens), where there is padding
        if self.rows < self.sequences * self.tokens:
            real = torch.arange(self.tokens, device=device)[None] < torch.tensor(lengths, device=device)[:, None]
            self.places, self.real = real.flatten().nonzero()[:, 0], real
            self.mask_bias = torch.where(real, 0.0, MASKED_SCORE)[:, None, None]
        if causal:  # real tokens come first, so no token reads padding
            self.mask_bias = causal_bias(torch.zeros(1, self.tokens, 0, device=device))

    def hide(self, visible: Tensor) -> None:
        """Lets each token attend only to those that `visible` (sequences, ≥ tokens, ≥ tokens) names, and to no padding."""
        hidden = torch.where(visible[:, : self.tokens, : self.tokens], 0.0, MASKED_SCORE)[:, None]
        self.mask_bias = hidden if self.mask_bias is None else torch.minimum(hidden, self.mask_bias)

    def attend(
        self,
        attention: "Attention",
        query: Tensor,
        key: Tensor,
        value: Tensor,
        bias: Tensor | None,
        every: bool,
        received: list[Tensor] | None = None,
    ) -> Tensor:
        """`received` gets what the tokens of each sequence receive, as rows."""
        queries = self._rectangle(query) if every else query[:, None]
        rectangles = (queries, self._rectangle(key), self._rectangle(value))
        own = self._bias(key, bias, every)
        if 0 < attention.window < self.tokens:
            far = rows_of_queries(window_bias(self.tokens, attention.window, key), every)
            own = far if own is None else own + far
        query, key, value = (split_heads(rows, attention.head_size) for rows in rectangles)
        terms = attention.relative_scores(query, key, self.tokens, every, self.types), attention.prefix
        found: list[Tensor] | None = None if received is None else []
        mixed, _ = attend(query, key, value, own, attention.scale, attention.drop, *terms, found, self.real)
        if received is not None and found:
            flat = found[0].flatten()
            received.append(flat if self.places is None else flat[self.places])
        if not every:
            return mixed[:, 0]
        flat = mixed.flatten(0, 1)
        return flat if self.places is None else Gather.apply(flat, self.places)

    def _rectangle(self, rows: Tensor) -> Tensor:
        whole = self.sequences * self.tokens
        flat = rows if self.places is None else Scatter.apply(rows, self.places, whole)
        return flat.unflatten(0, (self.sequences, self.tokens))

    def _bias(self, like: Tensor, bias: Tensor | None, every: bool) -> Tensor | None:
        mask = None if self.mask_bias is None else rows_of_queries(self.mask_bias.to(like.dtype), every)
        if bias is None:
            return mask
        own = rows_of_queries(bias[..., : self.tokens, : self.tokens], every)
        return own if mask is None else mask + own


def similar_lengths(lengths: list[int]) -> list[list[int]]:
    """Rising lengths in groups whose longest is not much longer than their shortest."""
    groups: list[list[int]] = []
    for length in lengths:
        if groups and length <= groups[-1][0] * SIMILAR + SLACK_TOKENS:
            groups[-1].append(length)
        else:
            groups.append([length])
    return groups


def rows_of_queries(bias: Tensor, every: bool) -> Tensor:
    """Of a bias (…, queries, keys), all queries or those of the first tokens."""
    return bias if every else bias[:, :, :1]
