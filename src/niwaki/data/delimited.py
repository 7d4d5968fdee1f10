"""csv and tsv as record batches. All cells are text: a guess from the first rows would make 7 of 007."""

import csv as standard
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from niwaki.core.errors import Refused, did_you_mean
from niwaki.data.encoding import Stream, blocks
from niwaki.data.limits import refuse_columns

END = b"\x1dend of the rows"  # a row of too many cells after the last: if it is not seen, a quote never closed
HEADER_BYTES = 1 << 20
BLOCK = 4 << 20  # the reader runs many blocks ahead; no row may be longer than one


def batches(path: Path, mark: str, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    names, mark = header(path, mark)
    if columns is not None:
        refuse_missing(path, columns, names)
    rows = Rows(path, len(names))
    parse = csv.ParseOptions(delimiter=mark, newlines_in_values=True, invalid_row_handler=rows.judge)
    convert = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=columns)
    source = pa.PythonFile(Stream(chain(blocks(path), [b"\n" + END + mark.encode() * len(names)])), mode="r")
    reading = csv.ReadOptions(block_size=BLOCK, use_threads=False)
    try:
        for batch in csv.open_csv(source, parse_options=parse, convert_options=convert, read_options=reading):
            rows.read += batch.num_rows
            yield batch
    except pa.ArrowInvalid as error:
        raise Refused(rows.fault(str(error))) from None
    if not rows.ended:
        raise Refused(rows.open_quote(rows.read + 1))


def header(path: Path, mark: str) -> tuple[list[str], str]:
    """The names of the columns and the mark between cells: that of the file's kind, or `;` or a tab where the header
    has none of it and some of them, as spreadsheets of many countries write."""
    first = next(blocks(path, HEADER_BYTES), b"").decode("utf-8", "ignore").lstrip("\r\n")
    if not first.strip():
        raise Refused(f"{path}: is empty")
    line = first.splitlines()[0]
    if mark not in line:
        mark = next((other for other in (",", ";", "\t") if other in line), mark)
    try:
        names = next(standard.reader(first.splitlines(keepends=True), delimiter=mark))
    except standard.Error as error:
        raise Refused(f"{path}: cannot be read as csv (header: {error})") from None
    refuse_columns(path, names)
    return names, mark


def refuse_missing(source: str | Path, columns: list[str], there: list[str]) -> None:
    missing = [name for name in columns if name not in there]
    if missing:
        raise Refused(f"{source}: has no column '{missing[0]}'{did_you_mean(missing[0], there)}")


class Rows:
    """Watches over the rows of one file: which does not fit, and whether the end was seen."""

    def __init__(self, path: Path, width: int) -> None:
        self.path, self.width = path, width
        self.read, self.ended, self.bad = 0, False, None

    def judge(self, row: Any) -> str:
        if row.text.startswith(END.decode()):
            self.ended = True
            return "skip"
        self.bad = row
        return "error"

    def fault(self, error: str) -> str:
        if self.bad is None:
            if "straddl" in error:
                return f"{self.open_quote(self.read + 1)}; or a row is longer than {BLOCK >> 20} MB"
            return f"{self.path}: cannot be read as csv ({error.splitlines()[0][:160]})"
        if END.decode() in self.bad.text:
            return self.open_quote(self.bad.number or 0)
        row = f"row {self.bad.number}" if self.bad.number else "a row"
        start = self.bad.text.splitlines()[0][:40] if self.bad.text else ""
        return (
            f"{self.path}: cannot be read as csv ({row} has {self.bad.actual_columns} cells and the header {self.width}: "
            f"{start!r}); put cells that hold the mark or a line break in double quotes"
        )

    def open_quote(self, number: int) -> str:
        row = f"row {number}" if number else "one row"
        return f'{self.path}: cannot be read as csv (a quote that opens in or after {row} never closes); close it, or write it as ""'
