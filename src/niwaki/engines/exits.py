"""Early exits: texts that an inner layer's answer is sure enough for go no further, and what was computed for the others is kept.

A network is run in stretches, from one exit to the next. Here is what a runtime holds of the texts that are still on their way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from niwaki.core.errors import Refused

Stops = Callable[
    [int, np.ndarray], np.ndarray
]  # an exit's number and logits (texts, labels) to (texts,): who ends there


def stretches(exits: list[int], depth: int) -> list[tuple[int, int]]:
    """Depths between which a network is run at a time. The layer before an exit is run for the first tokens alone, which answer, and
    for the texts that go on once more for all: what the others need not is the most of it."""
    if exits[-1:] and exits[-1] >= depth:
        raise Refused(f"niwaki_exits: the model has {depth} layers, and cannot be left after {exits[-1]}")
    return [(max(0, before - 1), at) for before, at in pairwise([0, *exits, depth])]


def exits_of(config: dict[str, Any]) -> list[int]:
    """The numbers of layers after which a saved network may answer, besides all."""
    return list(config.get("niwaki_exits") or ())


@dataclass(frozen=True)
class Padded:
    """Texts of a batch in arrays of one length."""

    start: np.ndarray  # (texts, tokens) ids, or (texts, tokens, width) what the last stretch left
    mask: np.ndarray  # (texts, tokens)
    types: np.ndarray

    def kept(self, chosen: np.ndarray) -> "Padded":
        """Some of the texts, no longer than they are."""
        longest = int(self.mask[chosen].sum(axis=1).max())
        return Padded(*(array[chosen, :longest] for array in (self.start, self.mask, self.types)))


@dataclass(frozen=True)
class Packed:
    """Texts of a batch one behind the other."""

    start: np.ndarray  # (tokens,) ids, or (tokens, padded width) what the last stretch left
    types: np.ndarray  # (tokens,)
    lengths: np.ndarray  # (texts,)

    def kept(self, chosen: np.ndarray) -> "Packed":
        tokens = np.repeat(chosen, self.lengths)
        return Packed(self.start[tokens], self.types[tokens], self.lengths[chosen])


def settle(waiting: Any, exits: int, run: Callable[[Any, int], tuple[np.ndarray, Any]], stops: Stops) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Logits (texts, labels) of the exit that each text took, and its number; `run` takes what waits through one stretch."""
    logits, waiting = run(waiting, 0)
    found, taken = logits, np.zeros(len(logits), dtype=np.int64)
    places = np.arange(len(logits))
    for number in range(exits):
        on = ~stops(number, logits)
        if not on.any():
            break
        places = places[on]
        logits, waiting = run(waiting.kept(on), number + 1)
        found[places], taken[places] = logits, number + 1
    return found, taken
