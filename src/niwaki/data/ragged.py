"""Rows of different lengths in one flat array: compact, quick to pad, and on disk where they are many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from niwaki.data.scratch import GrowingArray, joined, slices, zeros


@dataclass(frozen=True)
class Ragged:
    """`values[starts[row] : starts[row + 1]]` is a row."""

    values: np.ndarray
    starts: np.ndarray  # (rows + 1,)

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]], kind: npt.DTypeLike = np.int32) -> "Ragged":
        builder = RaggedWriter(kind)
        builder.add(rows)
        return builder.done()

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> np.ndarray:
        return self.values[self.starts[row] : self.starts[row + 1]]

    def stretch(self, block: range) -> "Ragged":
        """Rows that follow one another."""
        starts = self.starts[block.start : block.stop + 1]
        return Ragged(self.values[starts[0] : starts[-1]], starts - starts[0])

    @cached_property
    def lengths(self) -> np.ndarray:
        found = zeros(len(self), np.int64)
        return np.subtract(self.starts[1:], self.starts[:-1], out=found)

    def places(self, rows: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the values of chosen rows lie, as a rectangle (rows, longest), and the mask of those that are real."""
        rows = np.asarray(rows, dtype=np.int64)  # no rows would be floats
        columns = np.arange(self.lengths[rows].max(initial=1))
        mask = columns < self.lengths[rows][:, None]
        return np.where(mask, self.starts[rows][:, None] + columns, 0), mask

    def padded(self, rows: Sequence[int] | np.ndarray, fill: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Chosen rows as a rectangle (rows, longest) of int64, and the mask that tells real entries from padding."""
        if len(rows) == 1 and self.lengths[rows[0]]:
            filled = self[rows[0]].astype(np.int64)[None]
            return filled, np.ones(filled.shape, dtype=bool)
        places, mask = self.places(rows)
        filled = np.full(mask.shape, fill, dtype=np.int64)
        filled[mask] = self.values[places[mask]]
        return filled, mask

    def joined(self, other: "Ragged") -> "Ragged":
        starts = GrowingArray(np.int64).add(self.starts)
        for piece in slices(len(other)):
            starts.add(other.starts[1:][piece] + self.starts[-1])
        return Ragged(joined(self.values, other.values), starts.done())


class RaggedWriter:
    """Takes rows as they come; what is written does not stay in memory once it is much."""

    def __init__(self, kind: npt.DTypeLike = np.int32, spill_bytes: int | None = None) -> None:
        self.kind = np.dtype(kind)
        self._values, self._starts = GrowingArray(kind, spill_bytes), GrowingArray(np.int64, spill_bytes)
        self._starts.add(np.zeros(1, dtype=np.int64))
        self._end = 0

    def add(self, rows: Iterable[Sequence[int]]) -> None:
        arrays = [np.asarray(row, dtype=self.kind) for row in rows]
        lengths = np.fromiter((len(array) for array in arrays), dtype=np.int64, count=len(arrays))
        self.add_flat(np.concatenate([np.zeros(0, dtype=self.kind), *arrays]), lengths)

    def add_flat(self, values: np.ndarray, lengths: np.ndarray) -> None:
        """Rows that lie one behind the other."""
        self._starts.add(self._end + np.cumsum(lengths, dtype=np.int64))
        self._values.add(values)
        self._end += len(values)

    def done(self) -> Ragged:
        return Ragged(self._values.done(), self._starts.done())
