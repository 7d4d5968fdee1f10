"""Plain-text corpora: documents from text files, folders or a column of a table, streamed, without exact duplicates.

Nothing is held but a batch: documents lie in a mapped file once they are many (`spill.py`).
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.core.errors import InputError
from niwaki.data import dataset_files, unlabelled
from niwaki.data.digests import digests, numbered
from niwaki.data.folders import SPLITS, kind_of, named, split_of
from niwaki.data.limits import MAX_ROW_BYTES, check_row_size
from niwaki.data.scratch import joined, slices, zeros
from niwaki.data.spill import gather
from niwaki.data.splits import rows_of

Boundary = Literal["blank_line", "line", "file"]  # what ends a document of a text file
BATCH_BYTES = 1 << 20
SCHEMA = pa.schema([("text", pa.string())])
FIX = "set data.column"


def read_corpus(source: str | Path, column: str, boundary: Boundary) -> dict[str, pa.Table]:
    """Part → documents, a table with the column `text`. Files called train, validation and test give these parts; others are the
    part `all`. `column` names the column of tables; none takes the only one with texts."""
    path = Path(source).expanduser()
    files = unlabelled.plain_files(path) if path.exists() else []
    texts, tables = [file for file in files if unlabelled.is_plain(file)], [file for file in files if kind_of(file)]
    if texts and tables:
        raise InputError(
            f"{path}: holds both text files ({texts[0].name}) and tables ({tables[0].name}); name the one that is meant"
        )
    if texts:
        return {part: _of_texts(some, boundary) for part, some in _by_part(path, texts).items()}
    if files and not tables:
        known = ", ".join((*unlabelled.PLAIN, *dataset_files.READERS))
        raise InputError(f"{path}: is no file of texts, and holds none; there is: {known}")
    return _of_tables(source, path, tables, column)


def read_pairs(source: str | Path, column: str, second: str) -> dict[str, pa.Table]:
    """Part → rows of a table with two texts each, as columns `text` and `second`."""
    path, found = Path(source).expanduser(), {}
    for part, table in dataset_files.read_splits(source, [column, second]).items():
        texts = [_named_text(table.select([name]), path).column(0) for name in (column, second)]
        found[part] = _filled(pa.table({"text": texts[0], "second": texts[1]}), path)
    return found


def without_duplicates(parts: dict[str, pa.Table]) -> tuple[dict[str, pa.Table], int]:
    """The first of equal documents, and how many others there were. What is evaluated on stays there and leaves the train rows."""
    order = sorted(parts, key=lambda part: part in ("train", "all"))
    high, low = np.zeros(0, np.uint64), np.zeros(0, np.uint64)
    for part in order:
        found = digests(parts[part].column("text"))
        high, low = joined(high, found[0]), joined(low, found[1])
    repeats = _repeats(*numbered(high, low))
    starts = np.cumsum([0, *(parts[part].num_rows for part in order)])
    codes = {part: repeats[start:end] for part, start, end in zip(order, starts[:-1], starts[1:], strict=True)}
    return {part: rows_of(parts[part], codes[part], 0) for part in parts}, int(starts[-1] - (repeats == 0).sum())


def _repeats(count: int, place: np.ndarray) -> np.ndarray:
    """0 for the first row with each place, 1 for others."""
    seen, found = zeros(count, np.int8), zeros(len(place), np.int8)
    for piece in slices(len(place)):
        part = place[piece]
        first = np.zeros(len(part), dtype=bool)
        first[np.unique(part, return_index=True)[1]] = True
        found[piece] = ~first | (seen[part] > 0)
        seen[part] = 1
    return found


def _by_part(path: Path, files: list[Path]) -> dict[str, list[Path]]:
    """Text files by part, where one of them is called train."""
    parts = {file: split_of(file.stem) if file.parent == path else "" for file in files}
    if "train" not in parts.values():
        return {"all": files}
    return {part: [file for file in files if parts[file] == part] for part in dict.fromkeys(parts.values()) if part}


def _of_texts(files: list[Path], boundary: Boundary) -> pa.Table:
    found = (document for file in files for document in DOCUMENTS[boundary](file))
    return _filled(gather(_batches(found), SCHEMA), files[0])


def _of_tables(source: str | Path, path: Path, files: list[Path], column: str) -> dict[str, pa.Table]:
    column = column or (text_column(files[0]) if files else "text")
    has_parts = path.is_dir() and set(named(path)) & set(SPLITS.values())
    if has_parts or not path.is_dir():
        found = dataset_files.read_splits(source, [column])
    else:
        found = {"all": dataset_files.read_files(files, [column])}
    return {part: _filled(_named_text(table, path), path) for part, table in found.items()}


def text_column(file: Path) -> str:
    """The column of texts of a table: the one called so, or the only one."""
    first = next(iter(dataset_files.batches(file, None)), None)
    if first is None:
        raise InputError(f"{file}: has no rows")
    table = pa.Table.from_batches([first])
    found = unlabelled.text_columns(table, file, FIX)
    if len(found) > 1:
        raise InputError(f"{file}: has pairs of texts ({', '.join(found)}); {FIX}")
    return found[0]


def _named_text(table: pa.Table, path: Path) -> pa.Table:
    kind = table.schema.field(0).type
    if not pa.types.is_string(kind) and not pa.types.is_large_string(kind):
        raise InputError(f"{path}: column '{table.column_names[0]}' holds {kind}, not text; {FIX}")
    return table.rename_columns(["text"]).cast(SCHEMA)


def _filled(table: pa.Table, where: Path) -> pa.Table:
    """Without empty documents."""
    found = (batch.filter(_is_filled(batch)) for batch in table.to_batches())
    filled = gather((batch for batch in found if batch.num_rows), table.schema)
    if not filled.num_rows:
        raise InputError(f"{where}: has no documents")
    return filled


def _is_filled(batch: pa.RecordBatch) -> pa.Array:
    """Which rows have a text in every column."""
    filled = (compute.not_equal(compute.utf8_trim_whitespace(column), "") for column in batch.columns)
    return reduce(compute.and_, (compute.fill_null(one, False) for one in filled))


def _batches(documents: Iterable[str]) -> Iterator[pa.RecordBatch]:
    held: list[str] = []
    size = 0
    for document in documents:
        held.append(document)
        size += len(document)
        if size > BATCH_BYTES:
            yield pa.record_batch([pa.array(held, pa.string())], schema=SCHEMA)
            held, size = [], 0
    if held:
        yield pa.record_batch([pa.array(held, pa.string())], schema=SCHEMA)


# ── documents of a text file ────────────────────────────────────────────────────────────────────────────────────────


def _paragraphs(file: Path) -> Iterator[str]:
    """Lines up to a blank one."""
    held: list[str] = []
    size = 0
    for number, line in enumerate(unlabelled.raw_lines(file), start=1):
        if line.strip():
            held.append(line)
            size += len(line)
            check_row_size(file, size, number, "the document that ends before line")
        elif held:
            yield "".join(held).strip()
            held, size = [], 0
    if held:
        yield "".join(held).strip()


def _whole(file: Path) -> Iterator[str]:
    if file.stat().st_size > MAX_ROW_BYTES:
        raise InputError(
            f"{file}: is larger than {MAX_ROW_BYTES >> 20} MB, too much for one document; set data.documents = 'blank_line'"
        )
    yield "".join(unlabelled.raw_lines(file)).strip()


DOCUMENTS = {"blank_line": _paragraphs, "line": unlabelled.filled_lines, "file": _whole}
