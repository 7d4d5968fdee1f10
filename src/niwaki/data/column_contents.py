"""Guesses from a sample of rows what a column contains: texts, labels, measurements, row numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import compute

SAMPLE_ROWS, SAMPLE_SLICES = 10_000, 100
MAX_LABELS = 50  # that many may be labels even where rows are few
WORDS = r"\S\s+\S|[^\x00-\x7f]{4}"
DATE = r"^\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
NO_NUMBERS = {"nan", "inf", "infinity", "na", "n/a", "<na>", "null", "none"}  # stand where a number is missing
WHOLE = re.compile(r"[+-]?\d+(\.0*)?")
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def sample(table: pa.Table) -> pa.Table:
    """Rows from all over the table: files are often sorted by label."""
    if table.num_rows <= SAMPLE_ROWS:
        return table
    size = SAMPLE_ROWS // SAMPLE_SLICES
    starts = [number * (table.num_rows - size) // (SAMPLE_SLICES - 1) for number in range(SAMPLE_SLICES)]
    return pa.concat_tables([table.slice(start, size) for start in starts])


@dataclass(frozen=True)
class ColumnContents:
    name: str
    kind: pa.DataType
    rows: int  # that are not empty
    distinct: int
    mean_length: float  # of texts, in characters
    multiword_share: float  # share of texts with several words, or written without spaces
    is_date: bool = False  # most texts begin with a date

    @property
    def is_text(self) -> bool:
        """Texts that say something: several words, and seldom the same."""
        if not pa.types.is_string(self.kind) or not self.rows:
            return False
        return self.distinct > self.rows / 2 and self.multiword_share > 0.5 and not self.is_date

    @property
    def has_few_values(self) -> bool:
        """Values that come again and again, as labels do."""
        most = MAX_LABELS if self.rows < 10 * MAX_LABELS else self.rows / 10
        return 2 <= self.distinct <= min(most, self.rows / 2) and not (self.is_date or pa.types.is_temporal(self.kind))


def inspect_column(table: pa.Table, name: str) -> ColumnContents:
    column = table.column(name)
    if not pa.types.is_string(column.type):
        return ColumnContents(name, column.type, len(column) - column.null_count, count_distinct(column), 0.0, 0.0)
    filled = column.filter(compute.fill_null(compute.greater(compute.utf8_length(column), 0), False))
    mean = compute.mean(compute.utf8_length(filled)).as_py() or 0.0
    multiword_share, is_date = match_share(filled, WORDS), match_share(filled, DATE) > 0.9
    return ColumnContents(name, column.type, len(filled), count_distinct(filled), mean, multiword_share, is_date)


def match_share(texts: pa.ChunkedArray, pattern: str) -> float:
    return compute.mean(compute.match_substring_regex(texts, pattern).cast(pa.int8())).as_py() or 0.0


def count_distinct(column: pa.ChunkedArray) -> int:
    return 0 if pa.types.is_nested(column.type) else int(compute.count_distinct(column).as_py())


def holds_decimals(column: pa.ChunkedArray) -> bool:
    """Whether the values are decimals: numbers all, but for marks of missing ones, and not all of them whole."""
    if pa.types.is_floating(column.type):
        values = column.drop_null()
        return bool(len(values)) and not compute.all(compute.equal(compute.round(values), values)).as_py()
    if not pa.types.is_string(column.type):
        return pa.types.is_decimal(column.type)
    values = [value.strip() for value in compute.unique(column).to_pylist() if value and value.strip()]
    values = [value for value in values if value.lower().lstrip("+-") not in NO_NUMBERS]
    numbers = bool(values) and all(DECIMAL.fullmatch(value) for value in values)
    return numbers and not all(WHOLE.fullmatch(value) for value in values)


def separator(cells: Sequence[str]) -> tuple[str, bool]:
    """The mark between the labels of a cell, "" where each holds one; and whether that is clear.

    It is clear where most cells hold the mark, the number of parts varies, and there are fewer distinct parts than
    distinct cells: the parts come again in other company."""
    for mark in "|;,":
        share = sum(mark in cell for cell in cells) / max(1, len(cells))
        rows = [[part.strip() for part in cell.split(mark)] for cell in cells]
        parts = {part for row in rows for part in row}
        if share >= 0.05 and len(parts) < len(set(cells)) and max(map(len, parts)) <= 40:
            return mark, share >= 0.5 and len({len(row) for row in rows}) > 1
    return "", True
