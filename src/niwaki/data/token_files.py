"""Tokens of a corpus on disk: made once, then mapped, so that memory stays flat and later runs need not tokenize again.

A folder for each corpus, tokenizer and length, committed with its MANIFEST. Beyond a limit the least recently used are removed.
"""

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from niwaki.core import system
from niwaki.core.files import commit_folder, fault_in_folder, folder_bytes, remove_leftovers, require_space
from niwaki.core.log import info
from niwaki.data.ragged import Ragged

TOKENS, STARTS, DOCUMENTS, LOCK = (
    "tokens",
    "starts.int64",
    "documents.int64",
    ".lock",
)  # the name of the file of tokens ends with their type
LIMIT_BYTES = 40 << 30
# tokens of some sequences one behind the other, their lengths, and the numbers of their documents
Windows = Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]


class TokenFiles:
    """A folder of token files, which runs share."""

    def __init__(self, folder: Path, limit_bytes: int = LIMIT_BYTES) -> None:
        self.folder, self.limit_bytes = folder, limit_bytes

    def find(self, key: str) -> Ragged | None:
        """The sequences of a key, mapped, or None. Damaged ones are reported and removed."""
        place = self.folder / key
        if not place.exists():
            return None
        if fault := fault_in_folder(place):
            info(f"{fault}; the texts are tokenized again")
            shutil.rmtree(place, ignore_errors=True)
            return None
        with contextlib.suppress(OSError):  # read-only folders do not record use
            os.utime(place)
        (tokens,) = place.glob(f"{TOKENS}.*")
        kind = np.dtype(tokens.suffix.removeprefix("."))
        return Ragged(np.memmap(tokens, kind, "r"), np.memmap(place / STARTS, np.int64, "r"))

    def documents(self, key: str) -> np.ndarray:
        """The number of the document of each sequence, rising; mapped."""
        return np.memmap(self.folder / key / DOCUMENTS, np.int64, "r")

    def put(self, key: str, windows: Windows, vocabulary_size: int, expected_bytes: int) -> Ragged:
        """Writes sequences as they come, unless another process has done it meanwhile."""
        with self._lock():
            remove_leftovers(self.folder)
            found = self.find(key)
            if found is not None:
                return found
            self._evict(expected_bytes)
            require_space(self.folder, expected_bytes, "the tokens of the corpus")
            with commit_folder(self.folder / key) as place:
                write(windows, place, "uint16" if vocabulary_size <= 1 << 16 else "int32")
        found = self.find(key)
        assert found is not None
        return found

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Waits for other writers. The lock is the operating system's and ends with its process."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / LOCK).open("ab") as file:
            system.lock(file, False)
            yield

    def _evict(self, needed_bytes: int) -> None:
        found = sorted(self.folder.glob(f"*/{STARTS}"), key=lambda path: path.parent.stat().st_mtime)
        sizes = [folder_bytes(path.parent) for path in found]
        while found and sum(sizes) + needed_bytes > self.limit_bytes:
            shutil.rmtree(found.pop(0).parent, ignore_errors=True)
            sizes.pop(0)


def write(windows: Windows, place: Path, kind: str) -> None:
    end = 0
    with (
        (place / f"{TOKENS}.{kind}").open("wb") as tokens,
        (place / STARTS).open("wb") as starts,
        (place / DOCUMENTS).open("wb") as documents,
    ):
        starts.write(np.zeros(1, np.int64).tobytes())
        for ids, lengths, owners in windows:
            documents.write(owners.astype(np.int64).tobytes())
            tokens.write(np.ascontiguousarray(ids, dtype=kind).tobytes())
            starts.write((end + np.cumsum(lengths, dtype=np.int64)).tobytes())
            end += len(ids)
