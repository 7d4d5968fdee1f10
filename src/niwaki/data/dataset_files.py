"""Rows from anywhere: a csv, tsv, jsonl, json, parquet or conllu file, a folder with a file per part, or a data set of the hub.

Small files are held in memory, large ones in a temporary file that is mapped (`spill.py`): memory stays flat.
"""

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa

from niwaki.core.errors import InputError, first_line
from niwaki.data import conll, delimited, json_rows, parquet
from niwaki.data.folders import READERS, is_spreadsheet, kind_of, splits_in
from niwaki.data.hub import looks_like_id, read_hub
from niwaki.data.spill import gather

FAULTS = (pa.ArrowException, OSError, EOFError, zlib.error)


def read_splits(source: str | Path, columns: list[str] | None = None) -> dict[str, pa.Table]:
    """Part → rows. One file gives the part `all`, which is then cut by rule (`splits.make_splits`). `columns` leaves the
    others unread."""
    path = Path(source).expanduser()
    if path.is_dir():
        return {part: read_files(files, columns) for part, files in splits_in(path).items()}
    if not path.exists() and not kind_of(path) and looks_like_id(str(source)):
        return {part: select_columns(source, table, columns) for part, table in read_hub(str(source)).items()}
    return {"all": read_table(path, columns)}


def read_table(path: Path, columns: list[str] | None = None) -> pa.Table:
    return read_files([path], columns)


def read_files(paths: list[Path], columns: list[str] | None = None) -> pa.Table:
    """The rows of one file, or of shards one after the other."""
    for path in paths:
        reject_unreadable(path)
    size = sum(path.stat().st_size for path in paths)
    try:
        table = gather(chain.from_iterable(batches(path, columns) for path in paths), expect_bytes=size)
    except pa.ArrowException as error:  # what no reader says of its own: rows that do not go together
        raise InputError(f"{paths[0]}: cannot be read as {kind_of(paths[0])[1:]} ({first_line(error)})") from None
    if table.num_rows == 0 or table.num_columns == 0:
        raise InputError(f"{paths[0]}: has no rows")
    return select_columns(paths[0], table, columns)


def batches(path: Path, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    kind = kind_of(path)
    try:
        yield from open_rows(path, kind, columns)
    except PermissionError:
        raise InputError(f"{path}: may not be read (permission denied); `chmod u+r` it or run as its owner") from None
    except FAULTS as error:
        raise InputError(f"{path}: cannot be read as {kind[1:]} ({first_line(error)})") from None


def open_rows(path: Path, kind: str, columns: list[str] | None) -> Iterable[pa.RecordBatch]:
    if kind == ".parquet":
        return parquet.batches(path, columns)
    if kind in (".jsonl", ".json"):
        return json_rows.batches(path)
    if kind in (".conllu", ".conll"):
        return conll.batches(path, spans=kind == ".conll")
    return delimited.batches(path, "\t" if kind == ".tsv" else ",", columns)


def select_columns(source: str | Path, table: pa.Table, columns: list[str] | None) -> pa.Table:
    if columns is None:
        return table
    delimited.reject_missing_columns(source, columns, table.column_names)
    return table.select(columns)


def reject_unreadable(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path}: is a folder where a file is wanted")
    if not path.is_file():
        raise InputError(f"{path}: is not there")
    if is_spreadsheet(path):
        raise InputError(
            f"{path}: is a spreadsheet, which is not read; export the sheet as CSV (UTF-8) and give that file"
        )
    if not kind_of(path):
        raise InputError(f"{path}: is of a kind that is not read; give {', '.join(READERS)}")
