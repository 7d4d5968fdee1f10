"""Record batches to one table whose memory stays flat: beyond a limit the rows lie in a temporary file that is mapped.

The file is in Arrow's own layout, so nothing is parsed again and the pages belong to the system, not to the process. It
has no name once it is mapped: its space is free when the table goes, or the process. `TMPDIR` says where it lies.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path

import pyarrow as pa

from niwaki.core.files import require_space

LIMIT_BYTES = 32 << 20


def gather(batches: Iterable[pa.RecordBatch], schema: pa.Schema | None = None, expect_bytes: int = 0) -> pa.Table:
    """One table. Batches may differ in what they know of their columns (none but nulls, empty lists, whole numbers):
    the table has the widest type. `schema` is that of no rows; `expect_bytes` is what the rows will take, if known."""
    source = widened(batches)
    in_memory: list[pa.RecordBatch] = []
    size = 0
    for batch in source:
        in_memory.append(batch)
        size += batch.nbytes
        if size > LIMIT_BYTES:
            require_space(Path(tempfile.gettempdir()), max(expect_bytes, size), "a copy of the rows (see TMPDIR)")
            return joined([spill(group) for group in group_by_schema(chain(in_memory, source))])
    if not in_memory:
        return (schema or pa.schema([])).empty_table()
    return joined([pa.Table.from_batches(group) for group in group_by_schema(in_memory)])


def group_by_schema(batches: Iterable[pa.RecordBatch]) -> Iterator[Iterator[pa.RecordBatch]]:
    return (group for _, group in groupby(batches, key=lambda batch: batch.schema))


def joined(tables: list[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")


def widened(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each batch in the widest schema so far, so that it changes as seldom as can be."""
    schema: pa.Schema | None = None
    for batch in batches:
        if schema is not None and batch.schema != schema:
            schema = pa.unify_schemas([schema, batch.schema], promote_options="permissive")
            batch = fitted(batch, schema)
        schema = batch.schema
        yield batch


def fitted(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    table = joined([schema.empty_table(), pa.Table.from_batches([batch])])
    return table.combine_chunks().to_batches()[0]


def spill(batches: Iterator[pa.RecordBatch]) -> pa.Table:
    """The batches, all of one schema, as a table on a mapped file without a name."""
    handle, name = tempfile.mkstemp(prefix="niwaki-", suffix=".arrow")
    os.close(handle)
    try:
        first = next(batches)
        with pa.OSFile(name, "wb") as sink, pa.ipc.new_file(sink, first.schema) as file:
            for batch in chain([first], batches):
                require_space(Path(name).parent, batch.nbytes, "a copy of the rows (see TMPDIR)")
                file.write_batch(batch)
        return pa.ipc.open_file(pa.memory_map(name)).read_all()
    finally:
        Path(name).unlink()
