"""The header of a safetensors file, read and checked here before anything maps the file.

Eight bytes say how long the header is; it is a JSON table from names to type, shape and place; behind it lie the bytes
of the tensors, one after the other, without gaps. All of that must be so, exactly, and of a size that a model has.
"""

import math
import stat
import struct
from pathlib import Path
from typing import NamedTuple

from niwaki.core import strict_json
from niwaki.core.errors import InputError

MAX_HEADER_BYTES = 8 << 20
MAX_TENSORS = 20_000
MAX_DIMENSIONS = 8
MAX_NAME_CHARACTERS = 500
METADATA = "__metadata__"
BYTES = {
    "BOOL": 1,
    "U8": 1,
    "I8": 1,
    "F8_E5M2": 1,
    "F8_E4M3": 1,
    "I16": 2,
    "U16": 2,
    "F16": 2,
    "BF16": 2,
    "I32": 4,
    "U32": 4,
    "F32": 4,
    "F64": 8,
    "I64": 8,
    "U64": 8,
}


class TensorEntry(NamedTuple):
    dtype: str
    shape: tuple[int, ...]
    first: int  # counted from the end of the header
    last: int

    @property
    def numel(self) -> int:
        return math.prod(self.shape)


class Header(NamedTuple):
    start: int  # where the data begin
    tensors: dict[str, TensorEntry]

    @property
    def numel(self) -> int:
        return sum(tensor.numel for tensor in self.tensors.values())


def read_header(path: Path) -> Header:
    """The offset of the data in a safetensors file, and its tensors; InputError in one line if the header is invalid."""
    size, data = _bytes(path)
    start = 8 + len(data)
    try:
        table = strict_json.parse(data, f"{path}: its header")
        if not isinstance(table, dict) or not data.startswith(b"{"):
            raise InputError(f"{path}: its header is not a table")
        _check_metadata(table.pop(METADATA, {}))
        if len(table) > MAX_TENSORS:
            raise InputError(f"{path}: has more than {MAX_TENSORS} tensors, which no model has")
        tensors = {name: _tensor(name, entry) for name, entry in table.items()}
        _check_places(tensors, size - start)
    except ValueError as error:
        raise InputError(f"{path}: cannot be read, it is damaged or cut short ({error})") from None
    return Header(start, tensors)


def _bytes(path: Path) -> tuple[int, bytes]:
    """The size of the file and the bytes of its header."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{path}: is not a plain file")
        with path.open("rb") as file:
            first = file.read(8)
            length = struct.unpack("<Q", first)[0] if len(first) == 8 else -1
            if length > MAX_HEADER_BYTES:
                raise InputError(
                    f"{path}: its header claims {length} bytes, more than any model's ({MAX_HEADER_BYTES})"
                )
            data = file.read(max(0, length))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if length < 2 or len(data) != length:
        raise InputError(f"{path}: cannot be read, it is damaged or cut short (the header is not whole)")
    return found.st_size, data


def _check_metadata(value: object) -> None:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ValueError(f"{METADATA} must be a table of texts")


def _tensor(name: str, entry: object) -> TensorEntry:
    if len(name) > MAX_NAME_CHARACTERS:
        raise ValueError(f"tensor '{name[:40]}…': its name has more than {MAX_NAME_CHARACTERS} characters")
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"tensor '{name}': must have dtype, shape and data_offsets, and nothing else")
    dtype, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BYTES:
        raise ValueError(f"tensor '{name}': type {str(dtype)[:40]!r} is not known")
    if not _are_sizes(shape) or len(shape) > MAX_DIMENSIONS:
        raise ValueError(f"tensor '{name}': its shape must be at most {MAX_DIMENSIONS} whole numbers")
    if not _are_sizes(place) or len(place) != 2:
        raise ValueError(f"tensor '{name}': its place must be two whole numbers")
    need, have = math.prod(shape) * BYTES[dtype], place[1] - place[0]
    if need != have:
        raise ValueError(f"tensor '{name}': its shape takes {need} bytes and its place has {have}")
    return TensorEntry(dtype, tuple(shape), *place)


def _are_sizes(value: object) -> bool:
    return isinstance(value, list) and all(type(item) is int and 0 <= item < 1 << 48 for item in value)


def _check_places(tensors: dict[str, TensorEntry], size: int) -> None:
    end = 0
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].first, item[1].last)):
        if tensor.first != end:
            what = "overlaps another" if tensor.first < end else "leaves a gap before it"
            raise ValueError(f"tensor '{name}' {what}")
        end = tensor.last
    if end != size:
        raise ValueError(f"the tensors take {end} bytes and the file has {size}")
