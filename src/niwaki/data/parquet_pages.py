"""The pages of a parquet file, read from their own headers before any is unpacked: how large each says it becomes.

The footer tells sizes too, but the reader takes memory as the pages say, and a file of a hundred bytes can say two
gigabytes. A page header is a struct in Thrift's compact form; only its first three numbers are wanted.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from niwaki.core.errors import InputError
from niwaki.data.limits import MAX_GROWTH

if TYPE_CHECKING:
    from pyarrow import parquet

MAX_PAGE_BYTES, PLAIN_PAGE_BYTES = 128 << 20, 8 << 20
MAX_FOOTER_BYTES = 16 << 20
HEADER_BYTES = 1 << 16
MAX_PAGES = 1_000_000
DICTIONARY = 2
MAGIC = b"PAR1"


class Page(NamedTuple):
    kind: int
    unpacked: int
    packed: int


def check_footer(path: Path) -> None:
    """The footer is parsed whole; its length is in the last eight bytes."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - 8))
        end = file.read(8)
    if len(end) == 8 and end[4:] == MAGIC and struct.unpack("<I", end[:4])[0] > min(size, MAX_FOOTER_BYTES):
        raise InputError(
            f"{path}: cannot be read as parquet (its footer claims more bytes than the file or a footer has)"
        )


def largest_dictionary(path: Path, metadata: "parquet.FileMetaData", columns: list[str] | None) -> int:
    """Bytes of the largest table of values, each of which may come again in every row; InputError if a page is too large."""
    largest = 0
    with path.open("rb") as file:
        for first, last in chunks(metadata, columns):
            for page in pages(path, file, first, last):
                if page.unpacked > MAX_PAGE_BYTES or page.unpacked > max(PLAIN_PAGE_BYTES, MAX_GROWTH * page.packed):
                    raise InputError(
                        f"{path}: a page of {page.packed} bytes says it unpacks to {page.unpacked}; write the file anew with smaller pages"
                    )
                largest = max(largest, page.unpacked if page.kind == DICTIONARY else 0)
    return largest


def chunks(metadata: "parquet.FileMetaData", columns: list[str] | None) -> Iterator[tuple[int, int]]:
    """Where the pages of each column of each group of rows begin and end."""
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            if columns is not None and column.path_in_schema.partition(".")[0] not in columns:
                continue
            starts = [at for at in (column.dictionary_page_offset, column.data_page_offset) if at]
            if starts:
                yield min(starts), min(starts) + column.total_compressed_size


def pages(path: Path, file: IO[bytes], first: int, last: int) -> Iterator[Page]:
    for _ in range(MAX_PAGES):
        if first >= last:
            return
        file.seek(first)
        try:
            page, length = read_header(file.read(HEADER_BYTES))
        except (IndexError, ValueError):
            raise InputError(f"{path}: cannot be read as parquet (a page has no header)") from None
        yield page
        first += length + page.packed
    raise InputError(f"{path}: has more than {MAX_PAGES} pages in one column")


def read_header(data: bytes) -> tuple[Page, int]:
    """The page that a header describes, and the length of the header."""
    found, place, field = {}, 0, 0
    while True:
        kind = data[place] & 15
        step = data[place] >> 4
        place += 1
        if kind == 0:
            break
        if step:
            field += step
        else:
            field, place = integer(data, place)
        if kind in (4, 5, 6) and field <= 3:
            found[field], place = integer(data, place)
        else:
            place = skip(data, place, kind)
    page = Page(found[1], found[2], found[3]) if {1, 2, 3} <= set(found) else None
    if page is None or page.unpacked < 0 or page.packed < 0:
        raise ValueError("no sizes")
    return page, place


def integer(data: bytes, place: int) -> tuple[int, int]:
    """A number in groups of seven bits, low ones first, its sign in the lowest bit."""
    value, place = unsigned(data, place)
    return (value >> 1) ^ -(value & 1), place


def unsigned(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("number too long")


def skip(data: bytes, place: int, kind: int, depth: int = 0) -> int:
    """Where the field behind one of that kind begins."""
    if depth > 8:
        raise ValueError("nested too deep")
    if kind in (1, 2):  # a truth value is in the kind itself
        return place
    if kind in (3, 7):
        return place + (1 if kind == 3 else 8)
    if kind in (4, 5, 6):
        return unsigned(data, place)[1]
    if kind == 8:
        size, place = unsigned(data, place)
        return place + size
    if kind in (9, 10):
        inner, size = data[place] & 15, data[place] >> 4
        place += 1
        if size == 15:
            size, place = unsigned(data, place)
        for _ in range(min(size, len(data))):
            place = skip(data, place + 1 if inner in (1, 2) else place, inner, depth + 1)
        return place
    if kind == 12:
        while data[place]:
            inner, step = data[place] & 15, data[place] >> 4
            place = place + 1 if step else unsigned(data, place + 1)[1]
            place = skip(data, place, inner, depth + 1)
        return place + 1
    raise ValueError("unknown kind")
