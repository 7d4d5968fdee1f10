"""Cells: whether they hold texts, and those that hold nothing."""

from collections.abc import Iterable

import pyarrow as pa
from pyarrow import compute


def is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def empty_cells(table: pa.Table, columns: Iterable[str]) -> dict[str, int]:
    """Column → how many of its cells are missing, blank, an empty list or not a number; chunk by chunk, so that no copy
    of a column is made."""
    return {name: sum(count_empty(chunk) for chunk in table.column(name).chunks) for name in columns}


def count_empty(cells: pa.Array | pa.ChunkedArray) -> int:
    if is_text(cells.type):
        # a text of nothing but space, or of nothing: looking stops at the first character that is neither
        blank = compute.or_(compute.utf8_is_space(cells), compute.equal(compute.binary_length(cells), 0))
    elif pa.types.is_list(cells.type):
        blank = compute.equal(compute.list_value_length(cells), 0)
    elif pa.types.is_floating(cells.type):
        blank = compute.is_nan(cells)
    else:
        return int(cells.null_count)
    return int(cells.null_count + (compute.sum(blank).as_py() or 0))
