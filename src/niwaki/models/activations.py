"""What a teacher shows besides its answer: hidden states, attention scores, queries, keys and values, by name and depth.

A name is the attribute of `Outputs` and a depth: `hidden.2`, `scores.5`.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from torch import Tensor

from niwaki.models.anatomy import Anatomy
from niwaki.models.forward import run_padded
from niwaki.models.record import HIDDEN, Record
from niwaki.models.recorded import padded

LOGITS = "logits"


def named(what: str, depths: Iterable[int]) -> frozenset[str]:
    return frozenset(f"{what}.{depth}" for depth in depths)


def run_with(anatomy: Anatomy, inputs: Mapping[str, Tensor], names: Sequence[str]) -> tuple[Tensor, ...]:
    """The logits and the activations of these names, in this order, each (batch, …) with padding."""
    found = [name.split(".") for name in names]
    # with HIDDEN the last layer always runs for all rows: logits are then the same bits, whatever else is named
    record: Record = {HIDDEN: [], **{what: [] for what, _ in found}}
    logits = run_padded(anatomy, inputs, record)
    return logits, *(padded(record[what][int(depth)]) for what, depth in found)


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
