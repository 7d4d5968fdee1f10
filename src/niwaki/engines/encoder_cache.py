"""A cache of encoder outputs: in memory, and in a folder if one is given. Both are bounded; what was used least recently goes first.

Keys are digests of the trunk and of the tokens (`engines/shared_trunk.py`), so an entry never goes out of date. A file starts with the
digest of its content; a damaged one is computed again. Several processes may share a folder.
"""

import contextlib
import hashlib
import os
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path

import numpy as np

from niwaki.core.errors import InputError

Readings = Mapping[str, np.ndarray]  # what one text is to the heads of a trunk, by name
DIGEST_BYTES, SUFFIX = 32, ".states"
FULL = 0.9  # a folder that is full is emptied to this share of its size, so that it is not listed at every entry


class EncoderCache:
    """`hits`, `disk_hits` and `misses` count what was looked up."""

    def __init__(
        self, memory_bytes: int = 256 << 20, folder: str | Path | None = None, disk_bytes: int = 1 << 30
    ) -> None:
        if memory_bytes < 0 or disk_bytes < 0:
            raise InputError("cache: sizes must be 0 or more bytes")
        self.memory_bytes, self.disk_bytes = memory_bytes, disk_bytes
        self.folder = Path(folder).expanduser() if folder is not None else None
        self.hits = self.disk_hits = self.misses = 0
        self.used_bytes = 0  # of memory
        self._entries: OrderedDict[str, Readings] = OrderedDict()
        self._computing: dict[str, Future[Readings]] = {}
        self._lock = threading.Lock()
        self._disk_used = 0
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._disk_used = sum(size for _, size, _ in self._files())

    def get_or_compute(self, key: str, compute: Callable[[], Readings]) -> Readings:
        """The entry of a key. Threads that want the same one at the same time compute it once."""
        with self._lock:
            if (found := self._entries.get(key)) is not None:
                self._entries.move_to_end(key)
                self.hits += 1
                return found
            other = self._computing.get(key)
            if other is None:
                mine = self._computing[key] = Future()
            else:
                self.hits += 1
        return other.result() if other is not None else self._fill(key, compute, mine)

    def clear(self) -> None:
        """Empties the memory; the folder stays."""
        with self._lock:
            self._entries.clear()
            self.used_bytes = 0

    def _fill(self, key: str, compute: Callable[[], Readings], waiting: "Future[Readings]") -> Readings:
        try:
            found = self._from_disk(key)
            is_new = found is None
            if found is None:
                found = compute()
        except BaseException as error:
            with self._lock:
                del self._computing[key]
            waiting.set_exception(error)
            raise
        with self._lock:
            self.misses += is_new
            self.disk_hits += not is_new
            self._put(key, found)
            del self._computing[key]
        waiting.set_result(found)
        if is_new:
            self._to_disk(key, found)
        return found

    def _put(self, key: str, value: Readings) -> None:
        size = bytes_of(value)
        if size > self.memory_bytes:
            return
        self._entries[key] = value
        self.used_bytes += size
        while self.used_bytes > self.memory_bytes:
            _, dropped = self._entries.popitem(last=False)
            self.used_bytes -= bytes_of(dropped)

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{key}{SUFFIX}"

    def _from_disk(self, key: str) -> Readings | None:
        if self.folder is None:
            return None
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        found = unpacked(content)
        with contextlib.suppress(OSError):
            path.unlink() if found is None else os.utime(path)
        return found

    def _to_disk(self, key: str, value: Readings) -> None:
        """A disk that is full, or a folder that is gone, costs the entry and nothing else."""
        content = packed(value) if self.folder is not None else b""
        if not content or len(content) > self.disk_bytes:
            return
        path = self._path(key)
        temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
        with contextlib.suppress(OSError):
            try:
                temporary.write_bytes(content)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
            with self._lock:
                self._disk_used += len(content)
                if self._disk_used > self.disk_bytes:
                    self._disk_used = self._shrink(int(FULL * self.disk_bytes))

    def _shrink(self, target: int) -> int:
        """Removes the files that were used least recently; returns the bytes that are left."""
        files = self._files()
        used = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if used <= target:
                break
            path.unlink(missing_ok=True)
            used -= size
        return used

    def _files(self) -> list[tuple[float, int, Path]]:
        """Time of last use, size and path of all files."""
        assert self.folder is not None
        found = []
        for path in self.folder.glob(f"*{SUFFIX}"):
            with contextlib.suppress(OSError):  # another process removed it
                about = path.stat()
                found.append((about.st_mtime, about.st_size, path))
        return found


def bytes_of(value: Readings) -> int:
    return sum(array.nbytes for array in value.values())


def packed(value: Readings) -> bytes:
    """The content of a file."""
    from safetensors.numpy import save

    content = save(dict(value))
    return hashlib.sha256(content).digest() + content


def unpacked(content: bytes) -> Readings | None:
    """The entry in a file; None if the file is damaged."""
    from safetensors.numpy import load

    digest, rest = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    return load(rest) if hashlib.sha256(rest).digest() == digest else None
