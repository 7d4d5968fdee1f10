"""Attention behind bottlenecks (MobileBERT, Sun et al. 2020): queries and keys read narrow vectors, values the hidden states."""

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor

from niwaki.models.parts.mixers.attention import Attention

SHARED = "bottleneck.attention"


class Bottleneck(Attention):
    native = None
    no_native = "queries and keys read other rows than values"
    from_hidden = ("value", "bottleneck.input.dense", f"{SHARED}.dense")
    between = ("query", "key", "out")
    to_hidden: ClassVar[tuple[str, ...]] = ()

    def project(self, wanted: Tensor, rows: Tensor) -> Sequence[Tensor]:
        query, key, value, shared = (self.layer.part(role) for role in ("query", "key", "value", SHARED))
        narrow = shared(rows)
        return query(narrow if wanted is rows else shared(wanted)), key(narrow), value(rows)
