"""JSON as record batches: one object a line, or one list of objects."""

import codecs
import json as standard
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa
from pyarrow import json

from niwaki.core.errors import InputError
from niwaki.data.buffers import arrow_buffer
from niwaki.data.limits import (
    MAX_DEPTH,
    check_depth,
    check_digits,
    check_growth,
    check_key_count,
    check_row_size,
    keys_in,
)
from niwaki.data.utf8 import blocks

MAX_CELLS, CELL_BYTES = 4_000_000, 8  # of what is parsed at once; and what one takes
BETWEEN = re.compile(r"[\s,]*")


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    source = blocks(path)
    first = next((block for block in source if block.strip()), b"")
    if not first:
        raise InputError(f"{path}: is empty")
    source = chain([first], source)
    listed = first.lstrip().startswith(b"[")
    before = 0
    unit = "item" if listed else "line"
    known: set[bytes] = set()
    read = rows = 0
    for block in items(path, source) if listed else whole_lines(path, source):
        check_depth(path, block, before, unit)
        check_digits(path, block, before, unit)
        known = known | keys_in(block, known)
        check_key_count(path, known)
        read += len(block)
        for piece in line_groups(block, len(known)):
            table = parse(path, piece, before, unit)
            before += piece.count(b"\n")
            rows += table.num_rows
            check_growth(path, read, rows * len(known) * CELL_BYTES)
            yield from table.to_batches()


def line_groups(block: bytes, keys: int) -> Iterator[bytes]:
    """The lines of a block, as many at once as make no more than MOST_CELLS cells."""
    if block.count(b"\n") * keys <= MAX_CELLS:
        yield block
        return
    lines = block.splitlines(keepends=True)
    step = max(1, MAX_CELLS // keys)
    for start in range(0, len(lines), step):
        yield b"".join(lines[start : start + step])


def whole_lines(path: Path, source: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, cut only after line ends."""
    rest: list[bytes] = []
    lines = 0
    for block in source:
        cut = block.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, block[:cut]])
            rest, lines = [], lines + block.count(b"\n")
        rest.append(block[cut:])
        check_row_size(path, sum(map(len, rest)), lines + 1, "line")
    last = b"".join(rest)
    if last.strip():
        yield last + b"\n"


def items(path: Path, source: Iterable[bytes]) -> Iterator[bytes]:
    """The objects of a list, one a line, as they are written: only where each ends has to be found."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    text, number = "", 0
    for block in source:
        text = text + decoder.decode(block)
        text = text if number else text.lstrip().removeprefix("[")
        found, text = cut_objects(path, text, number)
        number += len(found)
        if found:
            yield "".join(f"{item}\n" for item in found).encode()
    if text.strip() != "]":
        raise InputError(
            f"{path}: cannot be read as json (item {number + 1} is not a whole JSON object, or the list is not closed)"
        )


def cut_objects(path: Path, text: str, before: int) -> tuple[list[str], str]:
    """The whole objects at the front of `text`, each on one line, and what is left after them."""
    # only the end of each object is needed, and Python makes no number of more than 4,300 digits
    find, at = standard.JSONDecoder(parse_int=str).raw_decode, 0
    found: list[str] = []
    while True:
        start = BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        if text[start : start + 1] in ("", "]"):
            return found, text[start:]
        if text[start] != "{":
            raise InputError(f"{path}: cannot be read as json (item {before + len(found) + 1} is not an object)")
        try:
            _, at = find(text, start)
        except RecursionError:
            number = before + len(found) + 1
            raise InputError(f"{path}: item {number} is nested more than {MAX_DEPTH} deep, which no row is") from None
        except ValueError:
            check_row_size(path, len(text) - start, before + len(found) + 1, "item")
            return found, text[start:]
        found.append(text[start:at].replace("\n", " ").replace("\r", " "))


def parse(path: Path, block: bytes, before: int, unit: str) -> pa.Table:
    reading = json.ReadOptions(use_threads=False, block_size=len(block) + 1)
    try:
        table = json.read_json(arrow_buffer(block), read_options=reading)
        if any(has_times(field.type) for field in table.schema):
            schema = pa.schema([pa.field(field.name, without_times(field.type)) for field in table.schema])
            options = json.ParseOptions(explicit_schema=schema)
            table = json.read_json(arrow_buffer(block), read_options=reading, parse_options=options)
        if b"null" in block and any(has_lists_in_lists(field.type) for field in table.schema):
            table = by_standard(block, table.schema)
        return table
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"{path}: {explain(block, before, unit, str(error))}") from None


def explain(block: bytes, before: int, unit: str, error: str) -> str:
    """What is wrong, found again by the slower reader that can say where."""
    for number, line in enumerate(block.split(b"\n"), before + 1):
        try:
            value = standard.loads(line) if line.strip() else {}
        except (standard.JSONDecodeError, RecursionError) as fault:
            if isinstance(fault, RecursionError):
                return f"cannot be read as json ({unit} {number} is nested too deep)"
            return f"cannot be read as json ({unit} {number}, column {fault.colno}: {fault.msg})"
        if not isinstance(value, dict):
            return f"cannot be read as json ({unit} {number} is not an object: {line[:40].decode('utf-8', 'replace')})"
    reason = error.splitlines()[0].removeprefix("JSON parse error: ").partition(" in row ")[0]
    last = before + len(block.splitlines())
    return (
        f"cannot be read as json ({reason[:120]}, {unit}s {before + 1} to {last}); write all values of a column alike"
    )


def by_standard(block: bytes, schema: pa.Schema) -> pa.Table:
    """The same rows by the slower reader: Arrow's (26.0) puts a null among the lists of a list in another place, and its
    columns are then shorter than they say."""
    return pa.Table.from_pylist([standard.loads(line) for line in block.split(b"\n") if line.strip()], schema)


def has_lists_in_lists(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return pa.types.is_list(kind.value_type) or has_lists_in_lists(kind.value_type)
    return pa.types.is_struct(kind) and any(has_lists_in_lists(field.type) for field in kind)


def has_times(kind: pa.DataType) -> bool:
    return without_times(kind) != kind


def without_times(kind: pa.DataType) -> pa.DataType:
    """Texts that look like dates are texts: the reader would make other texts of them."""
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(without_times(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, without_times(field.type)) for field in kind])
    return kind
