"""Early exits: texts that an inner layer's answer is sure enough for go no further, and what was computed for the others is kept.

A network is run in stretches, from one exit to the next. Here is what a runtime holds of the texts that are still on their way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from niwaki.core.errors import InputError

NOTHING = np.zeros(0, dtype=np.float32)  # is left behind the last layer
# an exit's number and logits (texts, labels) to (texts,): who ends there
ExitRule = Callable[[int, np.ndarray], np.ndarray]
# what waits, and the number of a stretch, to logits and what is left for the next stretch; nothing behind the last
RunLayers = Callable[[Any, int], tuple[np.ndarray, np.ndarray]]


def layer_ranges(exits: list[int], depth: int) -> list[tuple[int, int]]:
    """Depths between which a network is run at a time. The layer before an exit is run for the first tokens alone, which answer, and
    for the texts that go on once more for all: what the others need not is the most of it."""
    if exits[-1:] and exits[-1] >= depth:
        raise InputError(f"niwaki_exits: the model has {depth} layers, and cannot be left after {exits[-1]}")
    return [(max(0, before - 1), at) for before, at in pairwise([0, *exits, depth])]


def exits_of(config: dict[str, Any]) -> list[int]:
    """The numbers of layers after which a saved network may answer, besides all."""
    return list(config.get("niwaki_exits") or ())


class ActiveBatch:
    """Texts of a batch that are still on their way."""

    def select(self, chosen: np.ndarray, left: np.ndarray) -> "ActiveBatch":
        """Some of the texts, where the last stretch left them."""
        raise NotImplementedError


@dataclass(frozen=True)
class PaddedBatch(ActiveBatch):
    """In arrays of one length."""

    start: np.ndarray  # (texts, tokens) ids, or (texts, tokens, width) what the last stretch left
    mask: np.ndarray  # (texts, tokens)
    types: np.ndarray

    def select(self, chosen: np.ndarray, left: np.ndarray) -> "PaddedBatch":
        longest = int(self.mask[chosen].sum(axis=1).max())
        return PaddedBatch(*(array[chosen, :longest] for array in (left, self.mask, self.types)))


@dataclass(frozen=True)
class PackedBatch(ActiveBatch):
    """One behind the other."""

    start: np.ndarray  # (tokens,) ids, or (tokens, padded width) what the last stretch left
    types: np.ndarray  # (tokens,)
    lengths: np.ndarray  # (texts,)

    def select(self, chosen: np.ndarray, left: np.ndarray) -> "PackedBatch":
        tokens = np.repeat(chosen, self.lengths)
        return PackedBatch(left[tokens], self.types[tokens], self.lengths[chosen])


def run_with_exits(waiting: ActiveBatch, exits: int, run: RunLayers, stops: ExitRule) -> tuple[np.ndarray, np.ndarray]:
    """Logits (texts, labels) of the exit that each text took, and its number."""
    found, left = run(waiting, 0)
    logits, taken, places = found, np.zeros(len(found), dtype=np.int64), np.arange(len(found))
    for number in range(exits):
        on = ~stops(number, logits)
        if not on.any():
            break
        places, waiting = places[on], waiting.select(on, left)
        logits, left = run(waiting, number + 1)
        found[places], taken[places] = logits, number + 1
    return found, taken
