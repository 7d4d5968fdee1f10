"""How the tokens of a batch lie in memory: padded to a rectangle, or packed one sequence behind the other.

Layers work on rows (…, hidden) and do not know which of the two they are given. Only attention looks at several tokens
at once, so the layout does it. Exported graphs run padded; training, teachers and evaluation in torch run packed.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, TypeVar, cast

import torch
from torch import Tensor

from niwaki.models.attention import MASKED_SCORE, attend, causal_bias, padding_bias, split_heads, window_bias
from niwaki.models.fused import attention as fused
from niwaki.models.recorded import Activation, Recorded, Unpadded, pad_scores
from niwaki.models.row_places import Gather, Scatter
from niwaki.models.sequence_groups import SequenceGroup, rows_of_queries, similar_lengths

if TYPE_CHECKING:
    from niwaki.models.parts.mixers.attention import Attention

T = TypeVar("T")
BiasAt = Callable[[Tensor], Tensor]  # distances from query to key (…) to what is added to the scores, (…, heads)


class Cache:
    """What several layers need of one batch, computed by the first of them."""

    def __init__(self) -> None:
        self._found: dict[Hashable, object] = {}
        self.bias_at: BiasAt | None = None  # of a family with relative positions
        self.whole_bias: Callable[[], Tensor | None] = lambda: None  # the same for all pairs of tokens

    @property
    def position_bias(self) -> Tensor | None:
        """(1 or batch, heads, tokens, tokens), added to all scores. Made for the first layer that reads it, as it grows with the square of
        the text."""
        return self.cached("position_bias", self.whole_bias)

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._found:
            self._found[key] = make()
        return cast(T, self._found[key])


class Padded(Cache):
    """Rows are (batch, tokens, hidden); `mask_bias` (batch, 1, 1 or tokens, tokens) hides tokens from attention. `like` has the
    dtype of the scores. With `causal`, no token attends to a later one."""

    def __init__(self, mask: Tensor, like: Tensor, mask_bias: Tensor | None = None, causal: bool = False) -> None:
        super().__init__()
        self.mask = mask  # (batch, tokens)
        self.mask_bias = padding_bias(mask, like) if mask_bias is None else mask_bias
        if causal:
            self.mask_bias = self.mask_bias + causal_bias(like)
        self.causal = causal
        self.types: Tensor | None = None  # (batch, tokens) token types, where attention reads them
        self.received: list[Tensor] | None = None  # as of `Packed`

    def positions(self) -> Tensor:
        """The place of each row in its sequence, (tokens,)."""
        return torch.arange(self.mask.shape[1], device=self.mask.device)

    def pack(self, padded: Tensor) -> Tensor:
        return padded

    def unpack(self, rows: Tensor) -> Tensor:
        return rows

    def recorded(self, rows: Tensor, dtype: torch.dtype, padded: Tensor | None = None) -> Activation:
        return rows.to(dtype)

    def pick(self, rows: Tensor, chosen: Tensor) -> Tensor:
        return rows[chosen]

    def first(self, rows: Tensor) -> Tensor:
        """The rows of the first token of each sequence."""
        return rows[:, :1]

    def by_sequence(self, first: Tensor) -> Tensor:
        """Rows of first tokens as (batch, 1, hidden), in the order of the batch."""
        return first

    def to_first(self, by_sequence: Tensor) -> Tensor:
        """The opposite of `by_sequence`."""
        return by_sequence

    def of_first(self, rows: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        """What a function makes of the first token of each sequence, for every row. The rows may be those of first tokens alone."""
        return function(rows[:, :1]) + rows[..., :1] * 0

    def attend(
        self,
        attention: "Attention",
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scores: list[Activation] | None,
        shown: list[Activation] | None = None,
    ) -> Tensor:
        """Each query row over all tokens of its sequence. Scores are appended to `scores` where it is a list, and weights after softmax
        to `shown`."""
        every, bias = query.shape[1] == key.shape[1], self.position_bias
        mask_bias = rows_of_queries(self.mask_bias, every) if self.causal else self.mask_bias
        whole = mask_bias if bias is None else mask_bias + rows_of_queries(attention.pick_heads(bias), every)
        if attention.window:
            tokens, window = self.mask.shape[1], attention.window
            whole = whole + rows_of_queries(
                self.cached(("window", window), lambda: window_bias(tokens, window, whole)), every
            )
        query, key, value = (split_heads(rows, attention.head_size) for rows in (query, key, value))
        terms = attention.relative_scores(query, key, self.mask.shape[1], every, self.types), attention.prefix
        received = self.received, self.mask if every else None
        mixed, found = attend(query, key, value, whole, attention.scale, attention.drop, *terms, *received, shown)
        if scores is not None:
            scores.append(found)
        return mixed


class Packed(Cache):
    """Rows are (all real tokens, hidden), sequences ordered by length so that similar ones share a rectangle. With `causal`, no
    token attends to a later one. `visible` (batch, tokens, tokens) says for each token which ones it attends to; real tokens come
    first in each sequence."""

    def __init__(self, mask: Tensor, causal: bool = False, visible: Tensor | None = None) -> None:
        super().__init__()
        self.mask, self.shape, self.causal = mask, mask.shape, causal
        self.received: list[Tensor] | None = (
            None  # where a list, `attend` adds what each token receives, (batch, tokens)
        )
        lengths = mask.sum(dim=1)
        self.order = torch.argsort(lengths, stable=True)
        self.inverse = torch.argsort(self.order)
        ordered = lengths[self.order]
        self.lengths = ordered
        self.starts = ordered.cumsum(0) - ordered  # of each sequence, in packed rows
        tokens = mask.shape[1]
        real = mask.bool()[self.order].flatten().nonzero()[:, 0]  # places in the rectangle of ordered sequences
        self.places = self.order[real // tokens] * tokens + real % tokens  # places in the batch's own rectangle
        self.groups = [SequenceGroup(counts, mask.device, causal) for counts in similar_lengths(ordered.tolist())]
        self._types: Tensor | None = None
        self.visible = visible
        if visible is not None:
            for group, members in self._members():
                group.hide(visible[members])

    @property
    def selects(self) -> bool:
        """Whether tokens are hidden from each other by choice."""
        return self.visible is not None

    @property
    def types(self) -> Tensor | None:
        """(batch, tokens) token types, where attention reads them."""
        return self._types

    @types.setter
    def types(self, found: Tensor | None) -> None:
        self._types = found
        for group, members in self._members():
            group.types = None if found is None else found[members, : group.tokens]

    def _members(self) -> Iterator[tuple[SequenceGroup, Tensor]]:
        """Each group with the places of its sequences in the batch."""
        return zip(self.groups, self.order.split([group.sequences for group in self.groups]), strict=True)

    def positions(self) -> Tensor:
        """(all real tokens,)"""
        return self.places % self.shape[1]

    def pack(self, padded: Tensor) -> Tensor:
        """(batch, tokens, …) to (all real tokens, …)."""
        return Gather.apply(padded.flatten(0, 1), self.places)

    def unpack(self, rows: Tensor) -> Tensor:
        """(all real tokens, …) to (batch, tokens, …) with zeros for padding."""
        return Scatter.apply(rows, self.places, self.shape[0] * self.shape[1]).unflatten(0, self.shape)

    def recorded(self, rows: Tensor, dtype: torch.dtype, padded: Tensor | None = None) -> Activation:
        """Rows as an activation of this type with padding: `padded`, or with zeros there."""
        return Unpadded(rows, self.order, lambda own: self.unpack(own).to(dtype) if padded is None else padded)

    def pick(self, rows: Tensor, chosen: Tensor) -> Tensor:
        """The rows of the chosen tokens, a mask (batch, tokens), in the order of the batch."""
        return Gather.apply(rows, self.row_of(chosen.flatten()))

    def row_of(self, chosen: Tensor) -> Tensor:
        """The rows of places in the batch's rectangle, given as numbers or as a mask of all."""
        row_of = self.places.new_full(
            (self.shape[0] * self.shape[1],), -1
        )  # padding has no row: choosing it is an error
        row_of[self.places] = torch.arange(len(self.places), device=row_of.device)
        return row_of[chosen]

    def first(self, rows: Tensor) -> Tensor:
        return Gather.apply(rows, self.starts)

    def by_sequence(self, first: Tensor) -> Tensor:
        return Gather.apply(first, self.inverse)[:, None]

    def to_first(self, by_sequence: Tensor) -> Tensor:
        return Gather.apply(by_sequence[:, 0], self.order)

    def of_first(self, rows: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        if len(rows) == len(self.starts):
            return function(rows)
        return function(self.first(rows)).repeat_interleave(self.lengths, dim=0, output_size=len(rows))

    def attend(
        self,
        attention: "Attention",
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scores: list[Activation] | None,
        shown: list[Activation] | None = None,
    ) -> Tensor:
        if shown is not None:
            return self._attend_in_one_rectangle(attention, query, key, value, scores, shown)
        every, bias = len(query) == len(key), self.position_bias
        plain = bias is None and not self.selects and not attention.relative and attention.prefix is None
        if (
            plain
            and self.received is None
            and not self._is_windowed(attention)
            and fused.fits(query, attention.head_size)
        ):
            settings = self.lengths, attention.head_size, attention.scale, attention.dropout_rate, self.causal
            if scores is None or not every:
                return fused.attention(query, key, value, *settings)
            mixed, found = fused.attention_and_scores(query, key, value, *settings)
            lengths, order = self.lengths.tolist(), self.order.tolist()
            scores.append(Unpadded(found, self.order, lambda own: pad_scores(own, lengths, order)))
            return mixed
        if scores is not None:
            scores.append(self._scores(attention, query, key))
        own = None if bias is None else attention.pick_heads(bias)
        received: list[Tensor] | None = None if self.received is None else []
        mixed = self._attend_in_groups(attention, (query, key, value), own, every, received)
        if self.received is not None and received:
            self.received.append(self.unpack(torch.cat(received)[:, None])[..., 0])
        return mixed

    def _attend_in_one_rectangle(
        self,
        attention: "Attention",
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scores: list[Activation] | None,
        shown: list[Activation],
    ) -> Tensor:
        """As padded sequences attend, so that the weights of all can be shown in one rectangle."""
        query, key, value = self.unpack(query), self.unpack(key), self.unpack(value)
        real = (self.mask[:, None, :, None] * self.mask[:, None, None]).bool()  # (batch, 1, tokens, tokens)
        bias = None if self.visible is None else torch.where(real & self.visible[:, None].bool(), 0.0, MASKED_SCORE)
        padded = Padded(self.mask, query, bias, self.causal)
        padded.bias_at, padded.whole_bias, padded.types = self.bias_at, self.whole_bias, self.types
        padded.received = self.received
        found: list[Activation] = []
        mixed = padded.attend(attention, query, key, value, scores, found)
        shown.append(Recorded(found)[0] * real)
        return self.pack(mixed)

    def _attend_in_groups(
        self,
        attention: "Attention",
        states: tuple[Tensor, Tensor, Tensor],
        bias: Tensor | None,
        every: bool,
        received: list[Tensor] | None,
    ) -> Tensor:
        query, key, value = states
        if len(self.groups) == 1:
            return self.groups[0].attend(attention, query, key, value, bias, every, received)
        tokens, sequences = [group.rows for group in self.groups], [group.sequences for group in self.groups]
        queries = query.split(tokens if every else sequences)
        inputs = zip(self.groups, queries, key.split(tokens), value.split(tokens), strict=True)
        return torch.cat([group.attend(attention, q, k, v, bias, every, received) for group, q, k, v in inputs])

    def _scores(self, attention: "Attention", query: Tensor, key: Tensor) -> Tensor:
        """Of all sequences in one rectangle, in the order of the batch: (batch, heads, tokens, tokens)."""
        queries, keys = (split_heads(self.unpack(rows), attention.head_size) for rows in (query, key))
        scores = queries @ keys.transpose(-1, -2) * attention.scale
        relative = attention.relative_scores(queries, keys, self.shape[1], True, self.types)
        return scores if relative is None else scores + relative

    def _is_windowed(self, attention: "Attention") -> bool:
        """Whether a sequence is longer than the window of an attention."""
        return 0 < attention.window < max(group.tokens for group in self.groups)


Layout = Padded | Packed
