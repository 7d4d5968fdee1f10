"""Parquet as record batches, in the few types that tasks know: text, numbers, lists and structs of these."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from niwaki.core.errors import Refused
from niwaki.data.delimited import refuse_missing

BATCH_ROWS = 4096


def batches(path: Path, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    # read as a stream: whole row groups, which may be as large as the file, would be held otherwise
    with parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
        names = file.schema_arrow.names
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise Refused(f"{path}: column '{twice[0]}' is there {names.count(twice[0])} times; give each its own name")
        if columns is not None:
            refuse_missing(path, columns, names)
        for batch in file.iter_batches(BATCH_ROWS, columns=columns):
            yield plain(batch if columns is None else batch.select(columns))


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
