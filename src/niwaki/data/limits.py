"""How large the parts of a file of rows may be: enough for any text data set, little enough for any machine.

Rows themselves are without limit, they go to disk. What would be held at once is limited: columns, one row, one page,
how deep a row is nested, and how much larger a file may become than it is.
"""

import re
from collections import Counter
from pathlib import Path

from niwaki.core.errors import InputError

MAX_COLUMNS = 2000
MAX_ROW_BYTES = 8 << 20
MAX_DEPTH = 32
MAX_DIGITS = 308  # no float holds more
FLOOR_BYTES, MAX_GROWTH = 16 << 20, 300  # beyond so many bytes, not more than so many times what was packed
KEY = re.compile(rb'"[ \t\r]*:')
SPACED = re.compile(rb'"[ \t\r]+:')
AS_NINES, TOO_MANY_NINES = bytes.maketrans(b"0123456789", b"9999999999"), b"9" * (MAX_DIGITS + 1)
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')


def check_column_count(path: Path | str, names: list[str]) -> None:
    if len(names) > MAX_COLUMNS:
        raise InputError(f"{path}: has {len(names)} columns, more than {MAX_COLUMNS}; keep those that are needed")
    name, times = Counter(names).most_common(1)[0] if names else ("", 1)
    if times > 1:
        raise InputError(f"{path}: column '{name}' is there {times} times; give each its own name")


def check_growth(path: Path, packed: int, unpacked: int) -> None:
    """A file of a few bytes that becomes all of the disk is no data."""
    if unpacked > FLOOR_BYTES and unpacked > MAX_GROWTH * max(1, packed):
        raise InputError(f"{path}: unpacks to more than {MAX_GROWTH} times its size, which no data set does")


def check_row_size(path: Path | str, size: int, number: int, unit: str) -> None:
    if size > MAX_ROW_BYTES:
        raise InputError(
            f"{path}: {unit} {number} is longer than {MAX_ROW_BYTES >> 20} MB, which no text to be read is"
        )


def check_depth(path: Path, block: bytes, before: int, unit: str) -> None:
    """Of whole lines of JSON: the reader behind calls itself for every level."""
    if block.count(b"[") + block.count(b"{") <= block.count(b"\n") + MAX_DEPTH:
        return
    for number, line in enumerate(block.split(b"\n"), before + 1):
        if line.count(b"[") + line.count(b"{") > MAX_DEPTH and depth_of(line) > MAX_DEPTH:
            raise InputError(f"{path}: {unit} {number} is nested more than {MAX_DEPTH} deep, which no row is")


def check_digits(path: Path, block: bytes, before: int, unit: str) -> None:
    """Of whole lines of JSON. Arrow reads a number that is too large as infinity, and Python does not read it at all."""
    if not has_digits(block):
        return
    for number, line in enumerate(block.split(b"\n"), before + 1):
        if has_digits(line) and has_digits(TEXT.sub(b"", line)):
            raise InputError(
                f"{path}: {unit} {number} has a number of more than {MAX_DIGITS} digits; write it shorter, or as text in quotes"
            )


def has_digits(data: bytes) -> bool:
    """Whether more than MOST_DIGITS digits follow each other."""
    return TOO_MANY_NINES in data.translate(AS_NINES)


def keys_in(block: bytes, known: set[bytes]) -> set[bytes]:
    """The keys of whole lines of JSON. If all are among a few known ones, which counting shows, these."""
    counted = sum(block.count(b'"' + key + b'":') for key in known) if len(known) <= 16 else -1
    if counted == block.count(b'":') and not SPACED.search(block):
        return known
    return {part[part.rfind(b'"') + 1 :] for part in KEY.split(block)[:-1]}


def check_key_count(path: Path, keys: set[bytes]) -> None:
    """The reader behind keeps a column for every key, with a cell for every row."""
    if len(keys) > MAX_COLUMNS:
        raise InputError(f"{path}: has more than {MAX_COLUMNS} keys, which no columns are; keep those that are needed")


def depth_of(line: bytes) -> int:
    deepest = depth = 0
    for sign in re.findall(rb"[\[\]{}]", TEXT.sub(b"", line)):
        depth += 1 if sign in b"[{" else -1
        deepest = max(deepest, depth)
        if deepest > MAX_DEPTH:
            break
    return deepest
