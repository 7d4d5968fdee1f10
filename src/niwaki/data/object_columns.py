"""Columns of Python values as Arrow columns. Messages name the column, the problem and the fix."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import compute

from niwaki.core.errors import InputError, first_line
from niwaki.data.limits import MAX_DEPTH, check_column_count, check_row_size
from niwaki.data.parquet import plain
from niwaki.data.spill import gather

BATCH_ROWS = 1 << 14
DATA = "data"  # what messages call an object
FAULTS = (pa.ArrowException, TypeError, ValueError, OverflowError, RecursionError, AttributeError)
Foreign = Any  # an object of a library that is not imported here
Columns = Mapping[str, Foreign]  # name → list, numpy array, pandas or polars Series, Arrow array


def to_arrow(columns: Columns, names: Mapping[str, str] | None = None) -> pa.Table:
    """One table of all columns. `names` are what messages call them, where they are not the user's columns."""
    called = {name: (names or {}).get(name) or f"{DATA}: column '{name}'" for name in columns}
    reject_names(list(columns))
    lengths = {name: row_count(called[name], values) for name, values in columns.items()}
    count = next(iter(lengths.values()), 0)
    for name, length in lengths.items():
        if length != count:
            raise InputError(f"{called[name]}: has {length} values for {count} rows; give one for each row")
    if not count:
        raise InputError(f"{DATA}: has no rows")
    batches = (
        pa.record_batch([to_array(called[name], part(values, start)) for name, values in columns.items()], [*columns])
        for start in range(0, count, BATCH_ROWS)
    )
    return joined(plain(batch) for batch in batches)


def joined(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """The batches as one table, within the limits that files have."""
    try:
        table = gather(batches)
    except pa.ArrowException as error:
        raise InputError(
            f"{DATA}: the values of a column differ in type ({first_line(error)}); give a column one type"
        ) from None
    if table.num_rows == 0 or table.num_columns == 0:
        raise InputError(f"{DATA}: has no rows")
    check_text_sizes(table)
    return table


def reject_names(names: Sequence[object]) -> None:
    """Rejects column names that are not text or that occur twice."""
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{DATA}: column names must be text (given: {name!r}); rename the columns")
    check_column_count(DATA, [str(name) for name in names])


def row_count(called: str, values: Foreign) -> int:
    """The number of values; InputError unless they form one list."""
    shape = getattr(values, "shape", None)
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__") or shape == ():
        raise InputError(f"{called}: must be a list of values (given: {type(values).__name__})")
    if isinstance(values, set | frozenset):
        raise InputError(f"{called}: is a set, which has no order; give a list")
    if shape is not None and len(shape) != 1:
        raise InputError(f"{called}: has shape {tuple(shape)}; give one value for each row")
    return len(values)


def part(values: Foreign, start: int) -> Foreign:
    """The next batch of values, whatever the index of a pandas Series says."""
    rows = slice(start, start + BATCH_ROWS)
    return values.iloc[rows] if hasattr(values, "iloc") else values[rows]


def to_array(called: str, values: Foreign) -> pa.Array:
    """Missing values (None, NaN, NA) become nulls."""
    array = values
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        try:
            array = values.to_arrow() if hasattr(values, "to_arrow") else pa.array(values, from_pandas=True)
        except FAULTS as error:
            raise InputError(f"{called}: {reason(values, error)}") from None
    check_type(called, array.type)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def reason(values: Foreign, error: BaseException) -> str:
    """Why values make no column, and the fix."""
    if isinstance(error, UnicodeEncodeError):
        return "has a text that is not valid Unicode (a lone surrogate); remove it"
    if isinstance(error, RecursionError):
        return f"is nested more than {MAX_DEPTH} deep, which no row is"
    kinds = sorted({type(value).__name__ for value in islice(values, BATCH_ROWS) if not is_missing(value)})
    if len(kinds) > 1:
        return f"mixes {', '.join(kinds[:4])}; give all values one type"
    if isinstance(error, OverflowError) or kinds == ["int"]:
        return "has a number that needs more than 64 bits; write it as text"
    return f"holds {kinds[0] if kinds else 'unknown'} values; give text, numbers, or lists of these"


def is_missing(value: object) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def check_type(called: str, kind: pa.DataType) -> None:
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise InputError(f"{called}: holds bytes; decode them to text, or leave them out")
    if is_deeper(kind, MAX_DEPTH):
        raise InputError(f"{called}: is nested more than {MAX_DEPTH} deep, which no row is")


def is_deeper(kind: pa.DataType, levels: int) -> bool:
    """Whether a type has lists or structs below so many levels of them."""
    children = [kind.field(number).type for number in range(kind.num_fields)]
    return bool(children) and (levels == 0 or any(is_deeper(child, levels - 1) for child in children))


def check_text_sizes(table: pa.Table) -> None:
    for column in table.columns:
        if pa.types.is_string(column.type):
            longest = compute.max(compute.binary_length(column)).as_py() or 0
            check_row_size(DATA, longest, 1 + compute.index(compute.binary_length(column), longest).as_py(), "row")
