"""Teacher outputs on disk, keyed by teacher and texts, so that epochs, stages, seeds and runs share them.

Texts are stored in blocks, each a committed folder: a kill loses one block, and appended texts leave earlier blocks valid.
The least recently used blocks are evicted. Runs share the folder, so writers hold its lock: incomplete folders that exist
while nobody holds it were left by a kill.
"""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from niwaki.core import system
from niwaki.core.errors import InputError, first_line
from niwaki.core.files import commit_folder, fault_in_folder, fingerprint, folder_bytes, remove_leftovers
from niwaki.core.log import info
from niwaki.core.tensor_file import read_header

BLOCK = 1024  # sequences
FILE, TENSOR, LOCK = "numbers.safetensors", "numbers", ".lock"
DIGIT = "[0-9a-f]"
PREFIXES, NAMES = 2 * DIGIT, 30 * DIGIT  # glob patterns of block folders


class TeacherCache:
    """A folder of blocks with at most `limit` bytes in total."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder, self.limit = folder, limit
        self._in_use: set[Path] = set()
        if halves := {path.parent for path in folder.glob(f"{PREFIXES}/.{NAMES}.*")}:
            with self._lock():
                for place in halves:
                    remove_leftovers(place)

    @contextlib.contextmanager
    def _lock(self, shared: bool = False) -> Iterator[None]:
        """Waits for writers. The lock is the operating system's and ends with its process. Readers write nothing."""
        path = self.folder / LOCK
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            path.touch()
        with path.open("rb" if shared else "ab") as file:
            system.lock(file, shared)
            yield

    def find(self, key: str) -> np.ndarray | None:
        """The values, memory-mapped, or None. A damaged block is reported and removed."""
        place = self._folder(key)
        if not place.exists():
            return None
        with self._lock(shared=True):
            fault = fault_in_block(place)
            if fault is None:
                with contextlib.suppress(OSError):  # read-only folders do not record use
                    os.utime(place)
                self._in_use.add(place)
                return self._read(place)
        info(f"{fault}; the teacher computes it again")
        with self._lock():
            shutil.rmtree(place, ignore_errors=True)
        return None

    def put(self, key: str, numbers: np.ndarray) -> np.ndarray:
        place = self._folder(key)
        with self._lock(), commit_folder(place) as folder:
            save_file({TENSOR: numbers}, folder / FILE, metadata={"key": key})
        self._in_use.add(place)
        return self._read(place)

    def make_room(self, wanted: Mapping[str, int]) -> bool:
        """Whether blocks of these keys and sizes fit under the limit after evicting unused blocks, oldest first. Cached ones
        among them are kept and need no further space."""
        if not self.folder.is_dir():
            return sum(wanted.values()) <= self.limit
        if not self._touch(wanted):
            return True  # nothing has to be written or evicted
        with self._lock():
            return self._make_room(self._touch(wanted))

    def _touch(self, wanted: Mapping[str, int]) -> int:
        """Marks cached blocks as used and returns the size of the others."""
        self._in_use |= {place for key in wanted if (place := self._folder(key)).exists()}
        return self.missing(wanted)

    def missing(self, wanted: Mapping[str, int]) -> int:
        """Size of the blocks that are not cached."""
        return sum(size for key, size in wanted.items() if not self._folder(key).exists())

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
        """Only folders of blocks: the user may have named a folder with other files."""
        return [path for path in self.folder.glob(f"{PREFIXES}/{NAMES}") if (path / FILE).is_file()]

    def _folder(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:32]

    def _read(self, place: Path) -> np.ndarray:
        found = read_header(place / FILE)
        entry = found.tensors[TENSOR]
        mapped = np.memmap(place / FILE, np.float32, "r", found.start + entry.first, entry.shape)
        return np.asarray(mapped)  # slices of a plain array take a twentieth of the time


def fault_in_block(place: Path) -> str | None:
    """Why a block cannot be used: it is damaged, or has the key of another."""
    fault = fault_in_folder(place)
    if fault is not None:
        return fault
    try:
        read_header(place / FILE)
        with safe_open(place / FILE, framework="np") as file:
            key = (file.metadata() or {}).get("key", "")
    except (SafetensorError, OSError, InputError) as error:
        return f"{place}: cannot be read ({first_line(error)})"
    here = place.parent.name + place.name
    return None if key.startswith(here) else f"{place}: holds outputs for other texts"


def blocks(count: int) -> list[range]:
    """The sequence numbers of each block."""
    return [range(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK)]


def key_of(who: Sequence[str], name: str, values: Sequence[np.ndarray], lengths: np.ndarray) -> str:
    """The key of one activation of a block of inputs, as one teacher's tokenizer or preprocessor encodes them: token ids and types, or pixels."""
    digest = hashlib.sha256(np.ascontiguousarray(lengths).astype(np.int64).tobytes())
    for array in values:
        digest.update(np.ascontiguousarray(array).tobytes())
    return fingerprint([list(who), name, digest.hexdigest()])
