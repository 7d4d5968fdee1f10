"""Multi-head attention (Vaswani et al. 2017) with a family's query, key, value and output matrices."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from niwaki.models.attention import attend, split_heads
from niwaki.models.fused import linear
from niwaki.models.fused.library import is_plain
from niwaki.models.grouped_heads import of_each_head
from niwaki.models.layout import Layout
from niwaki.models.packed.removed import Removed
from niwaki.models.parts.mixers._mixer import Mixer
from niwaki.models.prefix import Prefix, prefix_of
from niwaki.models.record import ATTENTION, SCORES, STATES, Record

if TYPE_CHECKING:
    from niwaki.models.layer import Layer


class Attention(Mixer):
    from_hidden = ("query", "key", "value")
    to_hidden: ClassVar[tuple[str, ...]] = ("out",)
    native: ClassVar[str | None] = "attention"
    records = (SCORES, ATTENTION, *STATES)
    shows_attention = True

    def __init__(self, layer: "Layer") -> None:
        self.layer = layer

    @property
    def removed(self) -> bool:  # type: ignore[override]
        """Whether only the bias of its output matrix is left (`edits/blocks.py`)."""
        return isinstance(self.layer.part("out"), Removed)

    @property
    def prefix(self) -> Prefix | None:
        """Trained keys and values that all tokens read too."""
        return prefix_of(self.layer.module)

    @property
    def head_size(self) -> int:  # type: ignore[override]
        return int(getattr(self.layer.part("attention_module"), self.layer.paths.head_size_key))

    @property
    def heads(self) -> int:  # type: ignore[override]
        return self.layer.part("query").out_features // self.head_size

    @property
    def scale(self) -> float:
        """What products of queries and keys are multiplied by."""
        return self.head_size**-0.5 if self.layer.paths.scaled else 1.0

    def forward(self, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        return self._mix(rows, rows, layout, record)

    def forward_first(self, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        return self._mix(layout.first(rows), rows, layout, record)

    def _mix(self, wanted: Tensor, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        """For the wanted rows, over all."""
        out, removed = self.layer.part("out"), self.removed
        if removed and layout.received is None and record.keys().isdisjoint(self.records):
            return out(wanted)
        query, key, value = self.project(wanted, rows)
        query, key = self.place(query, key, layout)
        key, value = (of_each_head(one, self.key_heads, self.head_size) for one in (key, value))
        for name, state in zip(STATES, (query, key, value), strict=True):
            if name in record:
                record[name].append(layout.unpack(state))
        mixed = layout.attend(self, query, key, value, record.get(SCORES), record.get(ATTENTION))
        return out(wanted) if removed else apply_together([out], mixed)[0]

    def project(self, wanted: Tensor, rows: Tensor) -> Sequence[Tensor]:
        """Queries of the wanted rows, keys and values of all."""
        query, key, value = (self.layer.part(role) for role in self.from_hidden)
        if wanted is rows:
            return apply_together([query, key, value], rows)
        return query(wanted), *apply_together([key, value], rows)

    def keys_and_values(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Of hidden states (batch, tokens, hidden): each (batch, heads, tokens, head size)."""
        key, value = (self.layer.part(role)(hidden) for role in ("key", "value"))
        return split_heads(key, self.head_size), split_heads(value, self.head_size)

    def attend_to(self, wanted: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
        """Mixed values (batch, rows, heads × head size) for the wanted rows; `bias` is added to the scores."""
        query = split_heads(self.layer.part("query")(wanted), self.head_size)
        return attend(query, key, value, bias, self.scale, self.drop)[0]

    def drop(self, weights: Tensor) -> Tensor:
        return self.layer.drop("attention_dropout", weights)

    @property
    def dropout_rate(self) -> float:
        return self.layer.dropout_rate("attention_dropout")

    def pick_heads(self, bias: Tensor) -> Tensor:
        """(1 or batch, heads, rows, tokens) of the heads that there were, to those that are left."""
        remaining = getattr(self.layer.part("attention_module"), "remaining_heads", None)
        return bias if remaining is None else bias[:, remaining]


def apply_together(matrices: Sequence[Any], rows: Tensor) -> Sequence[Tensor]:
    """Outputs of several matrices for the same rows. While training, plain ones are multiplied as one: the rows are cast
    and read once, forward and backward. Otherwise each by itself, as copying weights costs more than it saves."""
    if not torch.is_grad_enabled() or not all(is_plain(one, nn.Linear) for one in matrices):
        return [matrix(rows) for matrix in matrices]
    if linear.fits(rows, matrices):
        return linear.linear(rows, matrices)
    if len(matrices) == 1:
        return [matrices[0](rows)]
    weights, biases = [one.weight for one in matrices], [one.bias for one in matrices]
    bias = None if any(one is None for one in biases) else torch.cat(biases)
    return functional.linear(rows, torch.cat(weights), bias).split([len(one) for one in weights], dim=-1)
