"""Which rows belong to which step of a training, computed from the step alone.

A batch that grows is cut into parts at first: with `growth` 4 into quarters, then halves, while the first half of the rows is read.
"""

from bisect import bisect_right
from collections.abc import Callable

import numpy as np

GROWING = 0.5  # share of the rows in which batches grow


class Steps:
    """`batches_of` gives the batches of an epoch, equally many for each."""

    def __init__(self, batches_of: Callable[[int], list[np.ndarray]], epochs: float, growth: int = 1) -> None:
        self._batches_of, self._cached = batches_of, (0, batches_of(0))
        self.per_epoch = len(self._cached[1])
        whole = max(1, round(epochs * self.per_epoch))
        self._parts = [*_halvings(growth), 1]
        each = round(whole * GROWING / max(1, len(self._parts) - 1))
        self._batches = [each * number for number in range(len(self._parts))]  # before each phase
        done = np.cumsum([0, *(each * parts for parts in self._parts[:-1])])
        self._steps = done.tolist()
        self.total = int(done[-1]) + whole - self._batches[-1]

    def epoch(self, step: int) -> float:
        """Epochs that are done before a step."""
        batch, part, parts = self._place(step)
        return (batch + part / parts) / self.per_epoch

    def rows(self, step: int) -> np.ndarray:
        batch, part, parts = self._place(step)
        epoch, place = divmod(batch, self.per_epoch)
        if self._cached[0] != epoch:
            self._cached = epoch, self._batches_of(epoch)
        rows = self._cached[1][place]
        found = np.array_split(rows, min(parts, len(rows)))
        return found[part % len(found)]

    def _place(self, step: int) -> tuple[int, int, int]:
        """The number of the batch, that of the part, and into how many parts it is cut."""
        phase = bisect_right(self._steps, step) - 1
        parts = self._parts[phase]
        batch, part = divmod(step - self._steps[phase], parts)
        return self._batches[phase] + batch, part, parts


def _halvings(growth: int) -> list[int]:
    """Powers of two from `growth` down to 2."""
    return [growth >> number for number in range(growth.bit_length() - 1)]
