"""The header of a GGUF file (llama.cpp's format), read and checked before any tensor is: every count, length and place lies within the file.

Magic and version, numbers of tensors and of metadata entries, the entries, then name, shape, type and place of each tensor; behind them the
data, each tensor at a multiple of the alignment. Nothing of a file is run: a chat template in it is a text that nobody reads.
"""

import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json

T = TypeVar("T")
MAGIC, VERSIONS = b"GGUF", (2, 3)
MAX_TENSORS, MAX_ENTRIES, MAX_ITEMS, MAX_TEXT, MAX_DIMENSIONS = 20_000, 10_000, 4_000_000, 4 << 20, 4
MAX_HEADER_BYTES = 256 << 20
MAX_ELEMENTS = 1 << 40
ALIGNMENT, MAX_ALIGNMENT = "general.alignment", 1 << 16
# forms of `struct` by the number of a type in a file; 8 and 9 are texts and lists
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9


class TensorType(NamedTuple):
    """How many numbers of a tensor form a block, and its bytes."""

    name: str
    numbers: int
    size: int


TYPES = {
    0: TensorType("F32", 1, 4),
    1: TensorType("F16", 1, 2),
    2: TensorType("Q4_0", 32, 18),
    3: TensorType("Q4_1", 32, 20),
    8: TensorType("Q8_0", 32, 34),
    12: TensorType("Q4_K", 256, 144),
    14: TensorType("Q6_K", 256, 210),
    30: TensorType("BF16", 1, 2),
}
UNSUPPORTED = {6: "Q5_0", 7: "Q5_1", 10: "Q2_K", 11: "Q3_K", 13: "Q5_K", 15: "Q8_K"}  # to name them in an error


class GgufTensor(NamedTuple):
    shape: tuple[int, ...]  # rows first, as in torch
    kind: TensorType
    first: int  # place in the file
    last: int


class GgufFile(NamedTuple):
    metadata: Json
    tensors: dict[str, GgufTensor]


class _Reader:
    """Reads a file from its beginning; a place beyond its end is an error that says so."""

    def __init__(self, path: Path, data: memoryview) -> None:
        self.path, self.data, self.place = path, data, 0

    def fail(self, problem: str) -> InputError:
        return InputError(f"{self.path}: {problem}; fetch the file again, or take another one")

    def take(self, count: int) -> memoryview:
        if count < 0 or self.place + count > len(self.data):
            raise self.fail("is cut short, or a length in its header leads out of it")
        self.place += count
        return self.data[self.place - count : self.place]

    def number(self, form: str) -> int:
        """A whole number; for the forms f and d a float, for ? a bool."""
        found: int = struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))[0]
        return found

    def count(self, most: int, what: str) -> int:
        found = int(self.number("Q"))
        if found > most:
            raise self.fail(f"states {found} {what}, and none of its kind has more than {most}")
        return found

    def text(self) -> str:
        try:
            return bytes(self.take(self.count(MAX_TEXT, "bytes of a text"))).decode("utf-8")
        except UnicodeDecodeError:
            raise self.fail("has a text that is not UTF-8") from None

    def value(self, kind: int) -> object:
        if kind == TEXT:
            return self.text()
        if kind == LIST:
            inner = self.number("I")
            count = self.count(MAX_ITEMS, "items of a list")
            if inner in NUMBERS:
                form = NUMBERS[inner]
                return [*struct.unpack(f"<{count}{form}", self.take(count * struct.calcsize(f"<{form}")))]
            if inner != TEXT:
                raise self.fail(f"has a list of type {inner}, which is not read")
            return [self.text() for _ in range(count)]
        if kind not in NUMBERS:
            raise self.fail(f"has a metadata entry of type {kind}, which no version of the format has")
        return self.number(NUMBERS[kind])


def read_gguf(path: Path, data: memoryview) -> GgufFile:
    """The metadata and the places of the tensors of a file, whose bytes are `data`."""
    reader = _Reader(path, data)
    if bytes(reader.take(4)) != MAGIC:
        raise InputError(f"{path}: is not a GGUF file")
    version = reader.number("I")
    if version not in VERSIONS:
        raise reader.fail(f"is of version {version}, and versions {' and '.join(map(str, VERSIONS))} are read")
    tensors, entries = reader.count(MAX_TENSORS, "tensors"), reader.count(MAX_ENTRIES, "metadata entries")
    metadata = dict(_distinct(reader, entries, lambda: reader.value(reader.number("I")), "metadata entry"))
    listed = dict(_distinct(reader, tensors, lambda: _described(reader), "tensor"))
    if reader.place > MAX_HEADER_BYTES:
        raise reader.fail("has a header of more bytes than any model's")
    alignment = metadata.get(ALIGNMENT, 32)
    if not isinstance(alignment, int) or isinstance(alignment, bool) or not 1 <= alignment <= MAX_ALIGNMENT:
        raise reader.fail(f"states {ALIGNMENT} = {alignment!r}"[:200])
    start = -(-reader.place // alignment) * alignment
    return GgufFile(metadata, _placed(reader, listed, start, alignment))


def _distinct(reader: _Reader, count: int, read: Callable[[], T], what: str) -> list[tuple[str, T]]:
    seen: set[str] = set()
    found = []
    for _ in range(count):
        name = reader.text()
        if name in seen:
            raise reader.fail(f"has the {what} {name[:60]!r} twice")
        seen.add(name)
        found.append((name, read()))
    return found


def _described(reader: _Reader) -> tuple[tuple[int, ...], TensorType, int]:
    dimensions = reader.number("I")
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise reader.fail(f"has a tensor of {dimensions} dimensions")
    shape = tuple(reversed([reader.count(MAX_ELEMENTS, "rows of a tensor") for _ in range(dimensions)]))
    number, offset = reader.number("I"), reader.number("Q")
    if number not in TYPES:
        name = UNSUPPORTED.get(number, f"of number {number}")
        raise InputError(
            f"{reader.path}: has tensors of type {name}, which is not read; take a file with one of: "
            f"{', '.join(kind.name for kind in TYPES.values())}"
        )
    if not 0 < math.prod(shape) <= MAX_ELEMENTS:
        raise reader.fail(f"has a tensor of shape {shape}")
    return shape, TYPES[number], offset


def _placed(
    reader: _Reader, listed: dict[str, tuple[tuple[int, ...], TensorType, int]], start: int, alignment: int
) -> dict[str, GgufTensor]:
    found: dict[str, GgufTensor] = {}
    before = start
    for name, (shape, kind, offset) in sorted(listed.items(), key=lambda entry: entry[1][2]):
        if shape[-1] % kind.numbers:
            raise reader.fail(
                f"tensor {name[:60]!r} has rows of {shape[-1]} numbers, which are no whole blocks of {kind.name}"
            )
        first = start + offset
        last = first + math.prod(shape) // kind.numbers * kind.size
        if offset % alignment or first < before or last > len(reader.data):
            raise reader.fail(f"tensor {name[:60]!r} leads out of the file, or overlaps another one")
        found[name], before = GgufTensor(shape, kind, first, last), last
    return found
