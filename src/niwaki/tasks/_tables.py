"""Tables: slices, columns as text, digests."""

import hashlib
from collections.abc import Iterator

import pyarrow as pa

from niwaki.core.errors import InputError, first_line
from niwaki.core.files import fingerprint
from niwaki.data.spill import gather

SLICE = 4096  # rows of a table that are plain Python at a time


def counted(parts: dict[str, pa.Table]) -> str:
    rows = sum(table.num_rows for table in parts.values())
    texts = len({text for table in parts.values() for text in table.column("text").unique().to_pylist()})
    return f"{rows} rows" if texts > rows / 2 else f"{rows} rows of {texts} different texts"


def row_slices(rows: pa.Table) -> Iterator[pa.Table]:
    for start in range(0, rows.num_rows, SLICE):
        yield rows.slice(start, SLICE)


def as_text(table: pa.Table, column: str, where: object) -> pa.ChunkedArray:
    """A column as text; what has to be converted lies on disk where it is much."""
    given = table.column(column)
    if pa.types.is_string(given.type):
        return given
    try:
        texts = (pa.record_batch([chunk.cast(pa.string())], [column]) for chunk in given.chunks)
        return gather(texts, pa.schema([(column, pa.string())])).column(0)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"{where}: column '{column}' is not text in UTF-8 ({first_line(error)}); convert it first"
        ) from None


def digest(rows: pa.Table) -> str:
    """Of the content. Columns of bytes have a column with their digests next to them."""
    digest = hashlib.sha256()
    for part in row_slices(rows.select([field.name for field in rows.schema if not pa.types.is_binary(field.type)])):
        digest.update(fingerprint(part.to_pylist()).encode())
    return digest.hexdigest()


def each_of(names: list[str] | str, table: pa.Table) -> list[str]:
    """The columns that a setting names: a list, or a text with commas between them."""
    if isinstance(names, list):
        return names
    return [names] if names in table.column_names else [name.strip() for name in names.split(",")]
