"""What a teacher shows besides its answer: hidden states, attention scores, queries, keys and values, by name and depth.

A name is the attribute of `Outputs` and a depth: `hidden.2`, `scores.5`.
"""

from collections.abc import Iterable

import numpy as np
from torch import Tensor, nn

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.encoder import HIDDEN, Record
from niwaki.models.layout import padded

LOGITS = "logits"


def named(what: str, depths: Iterable[int]) -> frozenset[str]:
    return frozenset(f"{what}.{depth}" for depth in depths)


class ActivationsModule(nn.Module):
    """Token ids, mask and types (batch, tokens) to the logits and what was asked for, in the order of `names`."""

    def __init__(self, network: Network, anatomy: Anatomy, names: list[str]) -> None:
        super().__init__()
        self.network, self.anatomy, self.names = network, anatomy, names

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> tuple[Tensor, ...]:
        named = [name.split(".") for name in self.names]
        # with HIDDEN the last layer always runs for all rows: logits are then the same bits, whatever else is named
        record: Record = {HIDDEN: [], **{what: [] for what, _ in named}}
        hidden = self.anatomy.embed(ids, types)
        logits = self.anatomy.from_embedded(hidden, padded(mask, hidden), record)
        return logits, *(record[what][int(depth)] for what, depth in named)


def numbers(anatomy: Anatomy, name: str, lengths: np.ndarray) -> np.ndarray:
    """How many numbers an inside has for each sequence of those lengths."""
    if name == LOGITS:
        labels = len(anatomy.network.config.id2label)
        return lengths * labels if anatomy.per_token else np.full_like(lengths, labels)
    what, depth = name.split(".")
    if what == "hidden":
        return lengths * anatomy.hidden_size
    layer = anatomy.layers[anatomy.order[int(depth)]]
    return lengths**2 * layer.heads if what == "scores" else lengths * layer.heads * layer.head_size


def shaped(values: np.ndarray, name: str, tokens: int, per_token: bool) -> np.ndarray:
    """The numbers of one sequence in their shape: (labels,), (tokens, …) or (heads, tokens, tokens)."""
    if name.startswith("scores."):
        return values.reshape(-1, tokens, tokens)
    return values if name == LOGITS and not per_token else values.reshape(tokens, -1)
