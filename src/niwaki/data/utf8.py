"""The bytes of a text file as blocks of UTF-8, checked on the way: every reader of text gets them here."""

import codecs
import gzip
import shlex
from collections.abc import Iterator
from io import RawIOBase
from pathlib import Path
from typing import IO

from niwaki.core.errors import InputError
from niwaki.data.limits import check_growth

BLOCK = 8 << 20
BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
MAGIC = {
    b"\x1f\x8b": "gzip: end its name in .gz",
    b"PK\x03\x04": "a zip archive or a spreadsheet: unpack it, or save it as csv",
    b"PAR1": "parquet: end its name in .parquet",
}


def blocks(path: Path, size: int = BLOCK) -> Iterator[bytes]:
    """UTF-8 without a byte-order mark. A file that begins with the mark of UTF-16 or 32 is converted; of any other encoding
    the first byte that is wrong is named."""
    with open_binary(path) as file:
        packed = getattr(file, "fileobj", None)  # of a gzip, what lies on the disk
        block = file.read(size)
        mark = next((mark for mark in BOMS if block.startswith(mark)), b"")
        check = Check(path, BOMS.get(mark, "utf-8"), len(mark))
        block = block[len(mark) :] or file.read(size)
        while block:
            if packed is not None:
                check_growth(path, packed.tell(), check.offset + len(block))
            if text := check(block):  # nothing yet, where a block ends within the first character of UTF-16
                yield text
            block = file.read(size)
        check(b"", final=True)


def open_binary(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


class Check:
    """Takes the blocks of one file in order and gives them back as UTF-8."""

    def __init__(self, path: Path, encoding: str, offset: int) -> None:
        self.path, self.encoding, self.offset = path, encoding, offset
        self.decoder = codecs.getincrementaldecoder(encoding)()

    def __call__(self, block: bytes, final: bool = False) -> bytes:
        waiting = len(self.decoder.getstate()[0])  # bytes of a character that the last block cut in two
        try:
            text = self.decoder.decode(block, final)
        except UnicodeDecodeError as error:
            place = self.offset - waiting + error.start
            raise InputError(self._fault(block, f"byte {place} is 0x{error.object[error.start]:02x}")) from None
        if "\0" in text:
            raise InputError(self._fault(block, f"byte {self.offset + block.find(0)} is NUL"))
        self.offset += len(block)
        return block if self.encoding == "utf-8" else text.encode()

    def _fault(self, block: bytes, what: str) -> str:
        names = f"{shlex.quote(self.path.name)} > {shlex.quote(f'utf8-{self.path.name}')}"
        fix = f"convert it from what it is in, e.g. `iconv -f WINDOWS-1252 -t UTF-8 {names}`"
        if 0 in block:
            fix = (
                "it may be no text at all, or UTF-16 without its mark: then convert it with `iconv -f UTF-16 -t UTF-8`"
            )
        fix = next((f"it is {known}" for magic, known in MAGIC.items() if block.startswith(magic)), fix)
        return f"{self.path}: cannot be read as text in {self.encoding.upper()} ({what}); {fix}"


class Stream(RawIOBase):
    """Blocks as a file that can be read once, from front to end."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self.source, self.rest = source, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        parts = [self.rest]
        while size < 0 or sum(map(len, parts)) < size:  # a short answer would cut the header off from the rows
            parts.append(next(self.source, b""))
            if not parts[-1]:
                break
        whole = b"".join(parts)
        cut = len(whole) if size < 0 else size
        self.rest = whole[cut:]
        return whole[:cut]
