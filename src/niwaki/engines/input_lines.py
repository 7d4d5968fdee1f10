"""The lines of an input file, read one at a time, with a hash of those that were read."""

import codecs
import hashlib
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from niwaki.core.errors import InputError, first_line
from niwaki.data.limits import MAX_ROW_BYTES
from niwaki.data.utf8 import BOMS, MAGIC, Stream, blocks, open_binary
from niwaki.engines.stdin import stdin

READ_ERRORS = (OSError, EOFError, zlib.error)  # of a disk, or of a compressed file
STDIN = Path("-")


class InputLines:
    """The lines of a file, and a hash that shows whether a second reading is of the same lines. If `stop` returns True, standard input
    ends there."""

    def __init__(self, path: Path, stop: Callable[[], bool] = lambda: False) -> None:
        self.path = path
        self.closed = False
        self.number = 0
        self.bytes = 0
        self.size = path.stat().st_size if path.suffix != ".gz" and path != STDIN else 0  # 0: not known
        self._hash = hashlib.sha256()
        self._file = stdin(lambda: self.closed or stop()) if path == STDIN else _binary(path)

    def __iter__(self) -> Iterator[bytes]:
        while line := self._read(MAX_ROW_BYTES + 1):
            self._count(line)
            self.number += 1
            if self.number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)  # of stdin; that of a file is skipped when it is opened
            if len(line) > MAX_ROW_BYTES and not line.endswith(b"\n"):
                self._skip_rest()
            yield line

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    def _read(self, most: int) -> bytes:
        try:
            return self._file.readline(most)
        except READ_ERRORS as error:
            raise InputError(
                f"{display_name(self.path)}: cannot be read after line {self.number} ({first_line(error)})"
            ) from None

    def _count(self, part: bytes) -> None:
        self.bytes += len(part)
        self._hash.update(part)

    def _skip_rest(self) -> None:
        """Skips the rest of a line that is too long, without holding it in memory."""
        while part := self._read(MAX_ROW_BYTES):
            self._count(part)
            if part.endswith(b"\n"):
                return

    def close(self) -> None:
        self.closed = True  # first: a thread that waits for a line uses the file until then
        self._file.close()


def _binary(path: Path) -> IO[bytes]:
    """The bytes of a UTF-8 file, unchecked: an invalid line is one bad row. UTF-16 and UTF-32 are converted if a BOM says so."""
    file = open_binary(path)
    start = file.read(4)
    for magic, known in MAGIC.items():
        if start.startswith(magic):
            raise InputError(f"{path}: cannot be read as text; it is {known}")
    bom = next((bom for bom in BOMS if start.startswith(bom)), b"")
    if bom in (b"", codecs.BOM_UTF8):
        file.seek(len(bom))
        return file
    file.close()
    return io.BufferedReader(_BufferedBlocks(blocks(path)))


class _BufferedBlocks(Stream):
    """Blocks as a file that a buffer can read from."""

    def readinto(self, room: Any) -> int:
        part = self.read(len(room))
        room[: len(part)] = part
        return len(part)


def display_name(path: Path) -> str:
    return "stdin" if path == STDIN else str(path)
