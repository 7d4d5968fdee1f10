"""How large the parts of a file of rows may be: enough for any text data set, little enough for any machine.

Rows themselves are without limit, they go to disk. What would be held at once is limited: columns, one row, one page,
how deep a row is nested, and how much larger a file may become than it is.
"""

import re
from collections import Counter
from pathlib import Path

from niwaki.core.errors import Refused

MOST_COLUMNS = 2000
MOST_ROW_BYTES = 8 << 20
MOST_DEPTH = 32
MOST_DIGITS = 308  # no float holds more
FLOOR_BYTES, MOST_GROWTH = 16 << 20, 300  # beyond so many bytes, not more than so many times what was packed
KEY = re.compile(rb'"[ \t\r]*:')
SPACED = re.compile(rb'"[ \t\r]+:')
AS_NINES, TOO_MANY_NINES = bytes.maketrans(b"0123456789", b"9999999999"), b"9" * (MOST_DIGITS + 1)
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')


def refuse_columns(path: Path, names: list[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise Refused(f"{path}: has {len(names)} columns, more than {MOST_COLUMNS}; keep those that are needed")
    name, times = Counter(names).most_common(1)[0] if names else ("", 1)
    if times > 1:
        raise Refused(f"{path}: column '{name}' is there {times} times; give each its own name")


def refuse_growth(path: Path, packed: int, unpacked: int) -> None:
    """A file of a few bytes that becomes all of the disk is no data."""
    if unpacked > FLOOR_BYTES and unpacked > MOST_GROWTH * max(1, packed):
        raise Refused(f"{path}: unpacks to more than {MOST_GROWTH} times its size, which no data set does")


def refuse_row(path: Path, size: int, number: int, unit: str) -> None:
    if size > MOST_ROW_BYTES:
        raise Refused(f"{path}: {unit} {number} is longer than {MOST_ROW_BYTES >> 20} MB, which no text to be read is")


def refuse_depth(path: Path, block: bytes, before: int, unit: str) -> None:
    """Of whole lines of JSON: the reader behind calls itself for every level."""
    if block.count(b"[") + block.count(b"{") <= block.count(b"\n") + MOST_DEPTH:
        return
    for number, line in enumerate(block.split(b"\n"), before + 1):
        if line.count(b"[") + line.count(b"{") > MOST_DEPTH and depth_of(line) > MOST_DEPTH:
            raise Refused(f"{path}: {unit} {number} is nested more than {MOST_DEPTH} deep, which no row is")


def refuse_digits(path: Path, block: bytes, before: int, unit: str) -> None:
    """Of whole lines of JSON. Arrow reads a number that is too large as infinity, and Python does not read it at all."""
    if not has_digits(block):
        return
    for number, line in enumerate(block.split(b"\n"), before + 1):
        if has_digits(line) and has_digits(TEXT.sub(b"", line)):
            raise Refused(
                f"{path}: {unit} {number} has a number of more than {MOST_DIGITS} digits; write it shorter, or as text in quotes"
            )


def has_digits(data: bytes) -> bool:
    """Whether more than MOST_DIGITS digits follow each other."""
    return TOO_MANY_NINES in data.translate(AS_NINES)


def keys_in(block: bytes, known: set[bytes]) -> set[bytes]:
    """The keys of whole lines of JSON. Where all are among a few known ones, which is told by counting, these."""
    counted = sum(block.count(b'"' + key + b'":') for key in known) if len(known) <= 16 else -1
    if counted == block.count(b'":') and not SPACED.search(block):
        return known
    return {part[part.rfind(b'"') + 1 :] for part in KEY.split(block)[:-1]}


def refuse_keys(path: Path, keys: set[bytes]) -> None:
    """The reader behind keeps a column for every key, with a cell for every row."""
    if len(keys) > MOST_COLUMNS:
        raise Refused(f"{path}: has more than {MOST_COLUMNS} keys, which no columns are; keep those that are needed")


def depth_of(line: bytes) -> int:
    deepest = depth = 0
    for sign in re.findall(rb"[\[\]{}]", TEXT.sub(b"", line)):
        depth += 1 if sign in b"[{" else -1
        deepest = max(deepest, depth)
        if deepest > MOST_DEPTH:
            break
    return deepest
