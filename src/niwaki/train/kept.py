"""What teachers said, kept on disk: named by teacher and texts, so that epochs, stages, seeds and runs all find it.

Texts are taken in blocks, each a committed folder: a kill loses one block, and texts that are added behind others leave
the blocks before them as they were. The least recently used make room for new ones. Runs share the folder, so whoever
changes it holds its lock for that moment: what is half-written while nobody holds it was left by a kill.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from niwaki.core.errors import Refused, first_line
from niwaki.core.files import committed, fault_in, fingerprint, folder_bytes, sweep
from niwaki.core.log import say
from niwaki.core.tensor_file import header

BLOCK = 1024  # sequences
FILE, TENSOR, LOCK = "numbers.safetensors", "numbers", ".lock"
DIGIT = "[0-9a-f]"
SHELVES, NAMES = 2 * DIGIT, 30 * DIGIT  # folders of blocks, and blocks in them, as a pattern finds them


class Kept:
    """A folder of blocks of numbers, none larger together than `limit` bytes."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder, self.limit = folder, limit
        self._in_use: set[Path] = set()
        if halves := {path.parent for path in folder.glob(f"{SHELVES}/.{NAMES}.*")}:
            with self._lock(fcntl.LOCK_EX):
                for place in halves:
                    sweep(place)

    @contextlib.contextmanager
    def _lock(self, how: int) -> Iterator[None]:
        """Waits for whoever changes the folder; the lock is the system's and goes with its process. Readers write nothing."""
        path = self.folder / LOCK
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            path.touch()
        with path.open("rb" if how == fcntl.LOCK_SH else "ab") as file:
            fcntl.flock(file, how)
            yield

    def find(self, key: str) -> np.ndarray | None:
        """The numbers, mapped from the disk, or None; a damaged block is named and removed."""
        place = self._place(key)
        if not place.exists():
            return None
        with self._lock(fcntl.LOCK_SH):
            fault = fault_in_block(place)
            if fault is None:
                with contextlib.suppress(OSError):  # a folder that is only read has no use to remember
                    os.utime(place)
                self._in_use.add(place)
                return self._read(place)
        say(f"{fault}; the teacher is asked again")
        with self._lock(fcntl.LOCK_EX):
            shutil.rmtree(place, ignore_errors=True)
        return None

    def put(self, key: str, numbers: np.ndarray) -> np.ndarray:
        place = self._place(key)
        with self._lock(fcntl.LOCK_EX), committed(place) as folder:
            save_file({TENSOR: numbers}, folder / FILE, metadata={"key": key})
        self._in_use.add(place)
        return self._read(place)

    def make_room(self, wanted: Mapping[str, int]) -> bool:
        """Whether blocks of these keys and bytes fit under the limit, after others that nobody here uses have gone, oldest first.
        Those that are there already take nothing more, and stay."""
        if not self.folder.is_dir():
            return sum(wanted.values()) <= self.limit
        if not self._found(wanted):
            return True  # nothing has to be written, nor to go
        with self._lock(fcntl.LOCK_EX):
            return self._make_room(self._found(wanted))

    def _found(self, wanted: Mapping[str, int]) -> int:
        """Notes those that are there as used, and gives the bytes of the others."""
        self._in_use |= {place for key in wanted if (place := self._place(key)).exists()}
        return self.missing(wanted)

    def missing(self, wanted: Mapping[str, int]) -> int:
        """Bytes of those that are not there."""
        return sum(size for key, size in wanted.items() if not self._place(key).exists())

    def _make_room(self, need: int) -> bool:
        sizes = {place: folder_bytes(place) for place in self._blocks()}
        spare = sorted((place for place in sizes if place not in self._in_use), key=lambda place: place.stat().st_mtime)
        total = sum(sizes.values())
        if total - sum(sizes[place] for place in spare) + need > self.limit:
            return False
        for place in spare:
            if total + need <= self.limit:
                break
            shutil.rmtree(place, ignore_errors=True)
            total -= sizes[place]
        return True

    def _blocks(self) -> Iterable[Path]:
        """The user may have named a folder in which other things lie."""
        return [path for path in self.folder.glob(f"{SHELVES}/{NAMES}") if (path / FILE).is_file()]

    def _place(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:32]

    def _read(self, place: Path) -> np.ndarray:
        found = header(place / FILE)
        entry = found.tensors[TENSOR]
        return np.memmap(place / FILE, np.float32, "r", found.start + entry.first, entry.shape)


def fault_in_block(place: Path) -> str | None:
    """Why a block cannot be used: it is damaged, or another that was put in its place."""
    fault = fault_in(place)
    if fault is not None:
        return fault
    try:
        header(place / FILE)
        with safe_open(place / FILE, framework="np") as file:
            said = (file.metadata() or {}).get("key", "")
    except (SafetensorError, OSError, Refused) as error:
        return f"{place}: cannot be read ({first_line(error)})"
    here = place.parent.name + place.name
    return None if said.startswith(here) else f"{place}: holds the answers to other texts"


def blocks(count: int) -> list[range]:
    """Numbers of sequences, block by block."""
    return [range(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK)]


def key_of(who: Sequence[str], name: str, ids: np.ndarray, types: np.ndarray, lengths: np.ndarray) -> str:
    """Names an inside of a block of texts as one teacher read them."""
    digest = hashlib.sha256(np.ascontiguousarray(lengths).astype(np.int64).tobytes())
    digest.update(np.ascontiguousarray(ids).astype(np.int32).tobytes())
    digest.update(np.ascontiguousarray(types).astype(np.uint8).tobytes())
    return fingerprint([list(who), name, digest.hexdigest()])
