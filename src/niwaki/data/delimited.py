"""csv and tsv as record batches. All cells are text: a guess from the first rows would make 7 of 007."""

import csv as standard
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from niwaki.core.errors import InputError, did_you_mean
from niwaki.data.buffers import arrow_buffer
from niwaki.data.limits import check_column_count
from niwaki.data.utf8 import blocks

HEADER_BYTES = 1 << 20
BLOCK = 4 << 20  # bytes that are read at once, and the longest row


def batches(path: Path, mark: str, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    names, mark = header(path, mark)
    if columns is not None:
        reject_missing_columns(path, columns, names)
    rows = Rows(path, names)
    parse = csv.ParseOptions(delimiter=mark, newlines_in_values=True, invalid_row_handler=rows.judge)
    convert = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=columns)
    for block in whole_rows(rows, mark):
        # Arrow parses a block that is in memory and never calls back into Python from a thread of its own: a thread
        # that still reads when the rows are rejected would abort the process at its end, or make it hang.
        reading = csv.ReadOptions(
            block_size=len(block) + 1, use_threads=False, column_names=names if rows.header_read else None
        )
        try:
            table = csv.read_csv(arrow_buffer(block), reading, parse, convert)
        except pa.ArrowInvalid as error:
            raise InputError(rows.fault(str(error))) from None
        rows.header_read = True
        rows.read += table.num_rows
        yield from table.to_batches()


def whole_rows(rows: "Rows", mark: str) -> Iterator[bytes]:
    """The bytes of the file, cut only where a row ends."""
    rest = b""
    for block in blocks(rows.path, BLOCK):
        rest = rest + block if rest else block.lstrip(b"\r\n")
        cut = last_row_end(rest, mark)
        if cut:
            yield rest[:cut]
            rest = rest[cut:]
        if len(rest) > BLOCK:
            raise InputError(f"{rows.open_quote()}; or a row is longer than {BLOCK >> 20} MB")
    rest = rest + b"\n" if rest else rest
    if rest.strip(b"\r\n"):
        cut = last_row_end(rest, mark)
        if cut:
            yield rest[:cut]
        if cut < len(rest):
            raise InputError(rows.open_quote())


def last_row_end(data: bytes, mark: str) -> int:
    """Where the last whole row ends in bytes that begin with a row; 0 where none does."""
    if b'"' not in data:
        return max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    return rows_of(mark).match(data).end()  # type: ignore[union-attr]


@cache
def rows_of(mark: str) -> re.Pattern[bytes]:
    """All whole rows at the front, as Arrow reads them: a quote that opens a cell ends at the next single quote, two
    stand for one, and any other quote is a character. Nothing backtracks."""
    other = rb"[^\r\n%b]*+" % re.escape(mark.encode())
    cell = rb'(?:"[^"]*+(?:""[^"]*+)*+"%b|(?!")%b)' % (other, other)
    return re.compile(rb"(?:(?:%b%b)*+%b[\r\n])*+" % (cell, re.escape(mark.encode()), cell))


def header(path: Path, mark: str) -> tuple[list[str], str]:
    """The names of the columns and the mark between cells: that of the file's kind, or `;` or a tab where the header
    has none of it and some of them, as spreadsheets of many countries write."""
    first = next(blocks(path, HEADER_BYTES), b"").decode("utf-8", "ignore").lstrip("\r\n")
    if not first.strip():
        raise InputError(f"{path}: is empty")
    line = first.splitlines()[0]
    if mark not in line:
        mark = next((other for other in (",", ";", "\t") if other in line), mark)
    try:
        names = next(standard.reader(first.splitlines(keepends=True), delimiter=mark))
    except standard.Error as error:
        raise InputError(f"{path}: cannot be read as csv (header: {error})") from None
    check_column_count(path, names)
    return names, mark


def reject_missing_columns(source: str | Path, columns: list[str], there: list[str]) -> None:
    missing = [name for name in columns if name not in there]
    if missing:
        raise InputError(f"{source}: has no column '{missing[0]}'{did_you_mean(missing[0], there)}")


class Rows:
    """Counts the rows of one file, and names the one that does not fit."""

    def __init__(self, path: Path, names: list[str]) -> None:
        self.path, self.width = path, len(names)
        self.header_read, self.read = False, 0
        self.bad: Any = None

    def judge(self, row: object) -> str:
        self.bad = row
        return "error"

    def fault(self, error: str) -> str:
        if self.bad is None:
            return f"{self.path}: cannot be read as csv ({error.splitlines()[0][:160]})"
        number = self.bad.number + (self.read + 1 if self.header_read else 0)  # Arrow counts within a block
        start = self.bad.text.splitlines()[0][:40] if self.bad.text else ""
        return (
            f"{self.path}: cannot be read as csv (row {number} has {self.bad.actual_columns} cells and the header {self.width}: "
            f"{start!r}); put cells that hold the mark or a line break in double quotes"
        )

    def open_quote(self) -> str:
        number = self.read + 2 if self.header_read else 1
        return f'{self.path}: cannot be read as csv (a quote that opens in or after row {number} never closes); close it, or write it as ""'
