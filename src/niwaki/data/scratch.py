"""Arrays that grow with the rows of a data set: beyond a limit they lie in a temporary file that is mapped.

The pages then belong to the system, which writes and drops them as it likes, and not to the process. The file has no
name: its space is free when the array goes, or the process. `TMPDIR` says where it lies.
"""

import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from niwaki.core.files import require_space

LIMIT_BYTES = 8 << 20  # of one array
PIECE_ROWS = 1 << 16  # of an array that are worked on at once
WHAT = "what is kept of the rows (see TMPDIR)"


def zeros(count: int, kind: npt.DTypeLike) -> np.ndarray:
    """Zeros to be filled."""
    kind = np.dtype(kind)
    size = count * kind.itemsize
    if size <= LIMIT_BYTES:
        return np.zeros(count, dtype=kind)
    require_space(Path(tempfile.gettempdir()), size, WHAT)
    with tempfile.TemporaryFile(prefix="niwaki-") as file:
        reserve(file.fileno(), size)
        return np.asarray(np.memmap(file, dtype=kind, mode="r+", shape=(count,)))


def reserve(file: int, size: int) -> None:
    """Takes the space now: a disk that fills up later would end the process at some store into the array."""
    try:
        os.posix_fallocate(file, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # a file system that cannot say
            raise


def slices(count: int) -> Iterator[slice]:
    for start in range(0, count, PIECE_ROWS):
        yield slice(start, min(start + PIECE_ROWS, count))


class GrowingArray:
    """Takes values as they come; what is written does not stay in memory once it is much."""

    def __init__(self, kind: npt.DTypeLike, limit_bytes: int | None = None) -> None:
        self.kind = np.dtype(kind)
        self.limit_bytes = LIMIT_BYTES if limit_bytes is None else limit_bytes
        self._held: list[np.ndarray] = []
        self._bytes = 0
        self._file: Any = None

    def add(self, values: np.ndarray) -> "GrowingArray":
        self._held.append(np.ascontiguousarray(values, dtype=self.kind))
        self._bytes += self._held[-1].nbytes
        if self._bytes > self.limit_bytes:
            self._spill()
        return self

    def _spill(self) -> None:
        self._file = self._file or tempfile.TemporaryFile(prefix="niwaki-")  # noqa: SIM115 - lives as long as the values
        require_space(Path(tempfile.gettempdir()), self._bytes, WHAT)
        for values in self._held:
            self._file.write(values.view(np.uint8))
        self._held, self._bytes = [], 0

    def done(self) -> np.ndarray:
        if self._file is None:
            return (
                self._held[0] if len(self._held) == 1 else np.concatenate([np.zeros(0, dtype=self.kind), *self._held])
            )
        self._spill()
        self._file.flush()
        with self._file:
            return np.asarray(np.memmap(self._file, dtype=self.kind, mode="r"))


def joined(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return GrowingArray(one.dtype).add(one).add(other).done()
