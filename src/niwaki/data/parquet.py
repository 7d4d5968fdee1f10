"""Parquet as record batches, in the few types that tasks know: text, numbers, lists and structs of these."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from niwaki.core.errors import InputError
from niwaki.data.delimited import reject_missing_columns
from niwaki.data.limits import check_column_count, check_growth
from niwaki.data.parquet_pages import check_footer, largest_dictionary

BATCH_ROWS = 4096
BATCH_BYTES = 128 << 20  # of one batch, if every row held all values of a column's dictionary
ROWS_PER_BYTE = 100


def batches(path: Path, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    check_footer(path)
    # read as a stream: whole row groups, which may be as large as the file, would be held otherwise
    with parquet.ParquetFile(
        path,
        buffer_size=1 << 20,
        pre_buffer=False,
        thrift_string_size_limit=16 << 20,
        thrift_container_size_limit=200_000,
    ) as file:
        names = file.schema_arrow.names
        check_column_count(path, names)
        if columns is not None:
            reject_missing_columns(path, columns, names)
        size = path.stat().st_size
        if file.metadata.num_rows > 1_000_000 + ROWS_PER_BYTE * size:
            raise InputError(f"{path}: claims {file.metadata.num_rows} rows in {size} bytes, which no data set has")
        at_once = BATCH_BYTES // max(1, largest_dictionary(path, file.metadata, columns))
        found = file.iter_batches(max(1, min(BATCH_ROWS, at_once)), columns=columns)
        chosen = (plain(batch if columns is None else batch.select(columns)) for batch in found)
        yield from joined(path, size, chosen)


def joined(path: Path, size: int, found: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of a usual size, however few were read at once."""
    batches: list[pa.RecordBatch] = []
    total = 0
    for batch in found:
        total += batch.nbytes
        check_growth(path, size, total)
        if not batches and batch.num_rows >= BATCH_ROWS:
            yield batch
            continue
        batches.append(batch)
        if sum(one.num_rows for one in batches) >= BATCH_ROWS or sum(one.nbytes for one in batches) > 8 << 20:
            yield from pa.Table.from_batches(batches).combine_chunks().to_batches()
            batches = []
    if batches:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()


def plain(rows: pa.RecordBatch | pa.Table) -> pa.RecordBatch | pa.Table:
    """The same rows without the variants of types that other writers choose (large, dictionary, view, fixed size)."""
    fields = [field.with_type(plain_type(field.type)) for field in rows.schema]
    schema = pa.schema(fields, metadata=rows.schema.metadata)
    return rows if schema == rows.schema else rows.cast(schema)


def plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(plain_type(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(plain_type(field.type)) for field in kind])
    return kind
