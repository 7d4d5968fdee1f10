"""Rows of different lengths in one flat array: compact, quick to pad, and on disk where they are many."""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

SPILL_BYTES = 256 << 20  # more than this lies in a temporary file, which the system reads and drops as it likes


@dataclass(frozen=True)
class Ragged:
    """`values[starts[row] : starts[row + 1]]` is a row."""

    values: np.ndarray
    starts: np.ndarray  # (rows + 1,)

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]], kind: Any = np.int32) -> "Ragged":
        writer = RaggedWriter(kind)
        writer.add(rows)
        return writer.done()

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> np.ndarray:
        return self.values[self.starts[row] : self.starts[row + 1]]

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.diff(self.starts)

    def places(self, rows: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the values of chosen rows lie, as a rectangle (rows, longest), and the mask of those that are real."""
        rows = np.asarray(rows, dtype=np.int64)  # no rows would be floats
        columns = np.arange(self.lengths[rows].max(initial=1))
        mask = columns < self.lengths[rows][:, None]
        return np.where(mask, self.starts[rows][:, None] + columns, 0), mask

    def padded(self, rows: Sequence[int] | np.ndarray, fill: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Chosen rows as a rectangle (rows, longest) of int64, and the mask that tells real entries from padding."""
        places, mask = self.places(rows)
        filled = np.full(mask.shape, fill, dtype=np.int64)
        filled[mask] = self.values[places[mask]]
        return filled, mask

    def joined(self, other: "Ragged") -> "Ragged":
        starts = np.concatenate([self.starts, other.starts[1:] + self.starts[-1]])
        return Ragged(np.concatenate([self.values, other.values]), starts)


class RaggedWriter:
    """Takes rows as they come; what is written does not stay in memory once it is much."""

    def __init__(self, kind: Any = np.int32, spill_bytes: int = SPILL_BYTES) -> None:
        self.kind = np.dtype(kind)
        self.spill_bytes = spill_bytes
        self._blocks: list[np.ndarray] = []
        self._lengths: list[np.ndarray] = []
        self._file: Any = None

    def add(self, rows: Iterable[Sequence[int]]) -> None:
        arrays = [np.asarray(row, dtype=self.kind) for row in rows]
        self._lengths.append(np.fromiter((len(array) for array in arrays), dtype=np.int64, count=len(arrays)))
        self._blocks.append(np.concatenate([np.zeros(0, dtype=self.kind), *arrays]))
        if sum(block.nbytes for block in self._blocks) > self.spill_bytes:
            self._spill()

    def _spill(self) -> None:
        self._file = self._file or tempfile.TemporaryFile(prefix="niwaki-")  # noqa: SIM115 - lives as long as the rows
        for block in self._blocks:
            block.tofile(self._file)
        self._blocks = []

    def done(self) -> Ragged:
        starts = np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *self._lengths]))
        if self._file is None:
            return Ragged(np.concatenate([np.zeros(0, dtype=self.kind), *self._blocks]), starts)
        self._spill()
        self._file.flush()
        return Ragged(np.memmap(self._file, dtype=self.kind, mode="r"), starts)
