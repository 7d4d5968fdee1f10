"""Early exits: a sequence leaves the network at the first exit whose answer is confident enough.

A network with exits runs in layer ranges, from one exit to the next. The sequences that remain keep their hidden states,
so no layer is computed twice for them except the one before an exit.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np

from niwaki.core.errors import InputError

NO_HIDDEN_STATES = np.zeros(0, dtype=np.float32)  # what the last layer range returns
# the number of an exit and its logits (sequences, labels) to a mask (sequences,) of those that leave there
ExitRule = Callable[[int, np.ndarray], np.ndarray]


def layer_ranges(exits: list[int], depth: int) -> list[tuple[int, int]]:
    """First and last depth of each range. A range ends with the layer before its exit computed for the first token only, because
    the head reads no other; the next range computes that layer again for all tokens of the sequences that remain."""
    if exits[-1:] and exits[-1] >= depth:
        raise InputError(f"niwaki_exits: the model has {depth} layers, so it has no exit after layer {exits[-1]}")
    return [(max(0, before - 1), at) for before, at in pairwise([0, *exits, depth])]


def exits_of(config: Mapping[str, Any]) -> list[int]:
    """The layers after which a saved network has an exit, without the last layer."""
    return list(config.get("niwaki_exits") or ())


class ActiveBatch(ABC):
    """The sequences of a batch that have not left the network yet."""

    @abstractmethod
    def select(self, remaining: np.ndarray, hidden_states: np.ndarray) -> Self:
        """The sequences of the mask `remaining`, with the hidden states that the last layer range returned."""


@dataclass(frozen=True)
class PaddedBatch(ActiveBatch):
    """Sequences padded to one length."""

    # (sequences, tokens) `attention_mask` and the network's inputs, or `hidden_states` (sequences, tokens, hidden size)
    arrays: Mapping[str, np.ndarray]

    def select(self, remaining: np.ndarray, hidden_states: np.ndarray) -> "PaddedBatch":
        mask = self.arrays["attention_mask"][remaining]
        longest = int(mask.sum(axis=1).max())
        return PaddedBatch({"hidden_states": hidden_states[remaining, :longest], "attention_mask": mask[:, :longest]})


@dataclass(frozen=True)
class PackedBatch(ActiveBatch):
    """Sequences concatenated, without padding."""

    start: np.ndarray  # (tokens,) token ids, or (tokens, padded hidden size) hidden states
    types: np.ndarray  # (tokens,)
    lengths: np.ndarray  # (sequences,)

    def select(self, remaining: np.ndarray, hidden_states: np.ndarray) -> "PackedBatch":
        tokens = np.repeat(remaining, self.lengths)
        return PackedBatch(hidden_states[tokens], self.types[tokens], self.lengths[remaining])


BatchT = TypeVar("BatchT", bound=ActiveBatch)
# a batch and the number of a layer range to logits and the hidden states for the next range
RunLayers = Callable[[BatchT, int], tuple[np.ndarray, np.ndarray]]


def run_with_exits(batch: BatchT, exits: int, run: RunLayers[BatchT], stops: ExitRule) -> tuple[np.ndarray, np.ndarray]:
    """Logits (sequences, labels) of the exit that each sequence took, and the number of that exit."""
    found, hidden_states = run(batch, 0)
    logits, taken, rows = found, np.zeros(len(found), dtype=np.int64), np.arange(len(found))
    for number in range(exits):
        remaining = ~stops(number, logits)
        if not remaining.any():
            break
        rows, batch = rows[remaining], batch.select(remaining, hidden_states)
        logits, hidden_states = run(batch, number + 1)
        found[rows], taken[rows] = logits, number + 1
    return found, taken
