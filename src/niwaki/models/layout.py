"""How the tokens of a batch lie in memory: padded to a rectangle, or packed one sequence behind the other.

Layers work on rows (…, hidden) and do not know which of the two they are given. Only attention looks at several tokens
at once, so the layout does it. Exported graphs run padded; training, teachers and evaluation in torch run packed.
"""

from typing import Any

import torch
from torch import Tensor

from niwaki.models.layer import MASKED_SCORE, Layer, at_heads, attend, padding_bias, split_heads

SIMILAR, SLACK_TOKENS = 1.25, 8  # sequences share a rectangle up to this ratio of lengths, and this many tokens more


class Padded:
    """Rows are (batch, tokens, hidden); `mask_bias` (batch, 1, 1 or tokens, tokens) hides tokens from attention."""

    def __init__(self, mask_bias: Tensor) -> None:
        self.mask_bias = mask_bias

    def pack(self, padded: Tensor) -> Tensor:
        return padded

    def unpack(self, rows: Tensor) -> Tensor:
        return rows

    def first(self, rows: Tensor) -> Tensor:
        """The rows of the first token of each sequence."""
        return rows[:, :1]

    def by_sequence(self, first: Tensor) -> Tensor:
        """Rows of first tokens as (batch, 1, hidden), in the order of the batch."""
        return first

    def attend(
        self, layer: Layer, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, scores: list[Tensor] | None
    ) -> Tensor:
        """Each query row over all tokens of its sequence. Scores are appended to `scores` where it is a list."""
        every = query.shape[1] == key.shape[1]
        whole = self.mask_bias if bias is None else self.mask_bias + _rows(at_heads(bias, layer), every)
        query, key, value = (split_heads(rows, layer.head_size) for rows in (query, key, value))
        mixed, found = attend(layer, query, key, value, whole)
        if scores is not None:
            scores.append(found)
        return mixed


class Packed:
    """Rows are (all real tokens, hidden), sequences ordered by length so that similar ones share a rectangle."""

    def __init__(self, mask: Tensor) -> None:
        self.shape = mask.shape
        lengths = mask.sum(dim=1)
        self.order = torch.argsort(lengths, stable=True)
        self.inverse = torch.argsort(self.order)
        ordered = lengths[self.order]
        self.starts = ordered.cumsum(0) - ordered  # of each sequence, in packed rows
        tokens = mask.shape[1]
        real = mask.bool()[self.order].flatten().nonzero()[:, 0]  # places in the rectangle of ordered sequences
        self.places = self.order[real // tokens] * tokens + real % tokens  # places in the batch's own rectangle
        self.groups = [_Group(counts, mask.device) for counts in _similar(ordered.tolist())]

    def pack(self, padded: Tensor) -> Tensor:
        """(batch, tokens, …) to (all real tokens, …)."""
        return _Gather.apply(padded.flatten(0, 1), self.places)

    def unpack(self, rows: Tensor) -> Tensor:
        """(all real tokens, …) to (batch, tokens, …) with zeros for padding."""
        return _Scatter.apply(rows, self.places, self.shape[0] * self.shape[1]).unflatten(0, self.shape)

    def first(self, rows: Tensor) -> Tensor:
        return _Gather.apply(rows, self.starts)

    def by_sequence(self, first: Tensor) -> Tensor:
        return _Gather.apply(first, self.inverse)[:, None]

    def attend(
        self, layer: Layer, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, scores: list[Tensor] | None
    ) -> Tensor:
        if scores is not None:
            scores.append(self._scores(layer, query, key))
        every, own = len(query) == len(key), None if bias is None else at_heads(bias, layer)
        if len(self.groups) == 1:
            return self.groups[0].attend(layer, query, key, value, own, every)
        tokens, sequences = [group.rows for group in self.groups], [group.sequences for group in self.groups]
        asked = query.split(tokens if every else sequences)
        pieces = zip(self.groups, asked, key.split(tokens), value.split(tokens), strict=True)
        mixed = [group.attend(layer, q, k, v, own, every) for group, q, k, v in pieces]
        return torch.cat(mixed)

    def _scores(self, layer: Layer, query: Tensor, key: Tensor) -> Tensor:
        """Of all sequences in one rectangle, in the order of the batch: (batch, heads, tokens, tokens)."""
        asked, given = (split_heads(self.unpack(rows), layer.head_size) for rows in (query, key))
        return asked @ given.transpose(-1, -2) * layer.scale


class _Group:
    """Sequences of similar length that share a rectangle during attention."""

    def __init__(self, lengths: list[int], device: torch.device) -> None:
        self.sequences, self.tokens, self.rows = len(lengths), max(lengths), sum(lengths)
        self.places: Tensor | None = None
        self.mask_bias: Tensor | None = None
        if self.rows < self.sequences * self.tokens:
            real = torch.arange(self.tokens, device=device)[None] < torch.tensor(lengths, device=device)[:, None]
            self.places = real.flatten().nonzero()[:, 0]
            self.mask_bias = torch.where(real, 0.0, MASKED_SCORE)[:, None, None]

    def attend(
        self, layer: Layer, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, every: bool
    ) -> Tensor:
        asked = self._rectangle(query) if every else query[:, None]
        rectangles = (asked, self._rectangle(key), self._rectangle(value))
        own = self._bias(key, bias, every)
        query, key, value = (split_heads(rows, layer.head_size) for rows in rectangles)
        mixed, _ = attend(layer, query, key, value, own)
        if not every:
            return mixed[:, 0]
        flat = mixed.flatten(0, 1)
        return flat if self.places is None else _Gather.apply(flat, self.places)

    def _rectangle(self, rows: Tensor) -> Tensor:
        whole = self.sequences * self.tokens
        flat = rows if self.places is None else _Scatter.apply(rows, self.places, whole)
        return flat.unflatten(0, (self.sequences, self.tokens))

    def _bias(self, like: Tensor, bias: Tensor | None, every: bool) -> Tensor | None:
        mask = None if self.mask_bias is None else self.mask_bias.to(like.dtype)
        if bias is None:
            return mask
        own = _rows(bias[..., : self.tokens, : self.tokens], every)
        return own if mask is None else mask + own


def _similar(lengths: list[int]) -> list[list[int]]:
    """Rising lengths in groups whose longest is not much longer than their shortest."""
    groups: list[list[int]] = []
    for length in lengths:
        if groups and length <= groups[-1][0] * SIMILAR + SLACK_TOKENS:
            groups[-1].append(length)
        else:
            groups.append([length])
    return groups


def _rows(bias: Tensor, every: bool) -> Tensor:
    return bias if every else bias[:, :, :1]


class _Gather(torch.autograd.Function):
    """Rows at some places, none of them twice: so the gradient is copied back. torch would add it up row by row."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.count = len(rows)
        return rows.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _scattered(gradients[0], ctx.saved_tensors[0], ctx.count), None


class _Scatter(torch.autograd.Function):
    """Rows to their places among `count`; the others are 0."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor, count: int) -> Tensor:
        ctx.save_for_backward(places)
        return _scattered(rows, places, count)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return gradients[0].index_select(0, ctx.saved_tensors[0]), None, None


def _scattered(rows: Tensor, places: Tensor, count: int) -> Tensor:
    return rows.new_zeros(count, *rows.shape[1:]).index_copy_(0, places, rows)


def padded(mask: Tensor, like: Tensor) -> Padded:
    """The layout of sequences (batch, tokens) with a mask; `like` has the dtype of the scores."""
    return Padded(padding_bias(mask, like))
