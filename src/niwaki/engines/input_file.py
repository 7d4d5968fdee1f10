"""Reads the inputs of a file one at a time: lines of text, JSON or csv. An error belongs to one row and names its line."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from niwaki.answers._answer_type import AnswerType, Columns, Input, input_error
from niwaki.core.errors import InputError, first_line
from niwaki.core.redaction import one_line
from niwaki.data.column_names import FIRST_LABEL, is_metadata, normalize, only_choice
from niwaki.data.folders import kind_of
from niwaki.data.limits import MAX_ROW_BYTES, check_column_count
from niwaki.engines.input_lines import InputLines, display_name

ID_COLUMNS = (
    "id",
    "uid",
    "uuid",
    "guid",
    "idx",
    "docid",
    "textid",
    "rowid",
    "pairid",
    "index",
)  # the first match is used

Cells = dict[str, object]  # of a row, by column


@dataclass(frozen=True)
class InputRow:
    """One input, or the error in its row."""

    line: int  # where it starts, counted from 1
    input: Input = None
    identity: Cells = field(default_factory=dict)  # its `id` or `text`, repeated in the answers
    error: str = ""
    cells: Cells = field(default_factory=dict)  # of a table, all that the row holds


class RowError(Exception):
    """The error in one row."""


Record = str | Cells | RowError  # a line of text, the cells of a row, or the error in it


def read_inputs(lines: InputLines, kind: AnswerType, columns: Sequence[str] = ()) -> Iterator[InputRow]:
    """Every input of the file. Without `columns`, the columns of a table are guessed from their names at the first row."""
    extension = kind_of(lines.path)
    if not extension:
        yield from (_row(number, kind, record, partial(_text_line, kind)) for number, record in _texts(lines))
        return
    if extension in (".csv", ".tsv"):
        records = _delimited(lines, "\t" if extension == ".tsv" else ",")
    elif extension == ".jsonl":
        records = _objects(lines)
    else:
        raise InputError(
            f"{lines.path}: {extension[1:]} cannot be read row by row; convert it to jsonl, one object a line"
        )
    reader: _ColumnReader | None = None
    for number, record in records:
        if reader is None and isinstance(record, dict):
            reader = _ColumnReader(lines.path, kind, record, columns)
        yield _row(number, kind, record, reader)


def check_columns_exist(path: Path, columns: Sequence[str]) -> None:
    """Rejects column names for a file without columns."""
    if columns and not kind_of(path):
        raise InputError(
            f"{display_name(path)}: has one text per line and no column '{columns[0]}'; omit --column, or give a .jsonl, .csv or .tsv file with --in"
        )


def _text_line(kind: AnswerType, line: Any) -> tuple[object, Cells]:
    return kind.from_line(line), {"text": line}


def _row(number: int, kind: AnswerType, record: Record, read: Callable[[Any], tuple[object, Cells]] | None) -> InputRow:
    value: object = None
    identity: Cells = {}
    try:
        if isinstance(record, RowError) or read is None:
            raise record if isinstance(record, RowError) else RowError("cannot be read")
        value, identity = read(record)
        cells = record if isinstance(record, dict) else {}
        return InputRow(number, kind.check(value), identity, cells=cells)
    except RowError as error:
        return InputRow(number, None, identity, str(error))
    except (TypeError, ValueError) as error:
        identity = identity if "id" in identity else {}  # an invalid text cannot be written either
        return InputRow(number, None, identity, input_error(error, kind, value))


class _ColumnReader:
    """From the cells of a row to an input. The columns are chosen once."""

    def __init__(self, path: Path, kind: AnswerType, first: Cells, columns: Sequence[str]) -> None:
        self.columns = list(columns) or self._guess(path, kind, first)
        by_plain = {normalize(name): name for name in reversed(first)}
        self.id = next((by_plain[name] for name in ID_COLUMNS if name in by_plain), "")

    def _guess(self, path: Path, kind: AnswerType, first: Cells) -> Columns:
        names = [name for name, cell in first.items() if isinstance(cell, str | list)]
        names = [name for name in names if not is_metadata(name) and normalize(name) not in FIRST_LABEL]
        return only_choice(kind.columns(names), path, first, "name it with --column, twice for a pair")

    def __call__(self, cells: Cells) -> tuple[object, Cells]:
        parts = [
            [_cell(cells, part) for part in name] if isinstance(name, list) else _cell(cells, name)
            for name in self.columns
        ]
        value = parts[0] if len(parts) == 1 else tuple(parts)
        row_id = cells.get(self.id)
        return value, {"id": row_id} if isinstance(row_id, str | int) else {"text": value}


def _cell(cells: Cells, name: str) -> object:
    if name not in cells:
        raise RowError(f"has no '{name}'")
    return cells[name]


def _texts(lines: InputLines) -> Iterator[tuple[int, Record]]:
    for line in lines:
        try:
            yield lines.number, _text(line)
        except RowError as error:
            yield lines.number, error


def _text(line: bytes) -> str:
    if len(line) > MAX_ROW_BYTES:
        raise RowError(f"is longer than {MAX_ROW_BYTES >> 20} MB, the maximum of a row")
    try:
        return line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise RowError(
            f"is not UTF-8 ({error.reason} at byte {error.start} of the line); convert the file first"
        ) from None


def _objects(lines: InputLines) -> Iterator[tuple[int, Record]]:
    for number, text in _texts(lines):
        try:
            yield number, _object(text) if isinstance(text, str) else text
        except RowError as error:
            yield number, error


def _object(text: str) -> Cells:
    if not text.strip():
        raise RowError("is empty; remove it")
    try:
        value = json.loads(text)
    except RecursionError:
        raise RowError("is nested too deep") from None
    except ValueError as error:
        raise RowError(f"is not JSON ({first_line(error)})") from None
    if not isinstance(value, dict):
        raise RowError('is not an object; write {"text": …}')
    return value


def _delimited(lines: InputLines, delimiter: str) -> Iterator[tuple[int, Record]]:
    """Rows of csv as dictionaries. A cell may contain line breaks."""
    csv.field_size_limit(MAX_ROW_BYTES)
    first = next(iter(lines), b"")
    header = first.decode("utf-8", "replace")
    delimiter = (
        delimiter if delimiter in header else next((other for other in (",", ";", "\t") if other in header), delimiter)
    )
    # invalid UTF-8 passes the csv reader as lone surrogates, and is reported for its row
    decoded = (line.decode("utf-8", "surrogateescape") for line in _with_first(first, lines))
    reader = csv.reader(decoded, delimiter=delimiter, strict=True)
    names: list[str] | None = None
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if names is None:
                raise InputError(f"{lines.path}: cannot be read as csv (header: {error})") from None
            yield number, RowError(f"cannot be read as csv ({error}); a quote may not be closed")
            continue
        if names is None:
            names = cells
            if _has_invalid_bytes("".join(names)):
                raise InputError(f"{lines.path}: its header is not UTF-8; convert the file first")
            check_column_count(lines.path, names)
        else:
            yield number, _with_names(names, cells)


def _with_first(first: bytes, lines: InputLines) -> Iterator[bytes]:
    yield first
    yield from lines


def _with_names(names: list[str], cells: list[str]) -> Cells | RowError:
    if not cells:
        return RowError("is empty; remove it")
    if len(cells) != len(names):
        return RowError(
            f"has {len(cells)} cells and the header {len(names)}; quote cells that contain the delimiter or a line break"
        )
    if any(not cell.isascii() and _has_invalid_bytes(cell) for cell in cells):
        return RowError("is not UTF-8; convert the file first")
    return dict(zip(names, cells, strict=True))


def _has_invalid_bytes(cell: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in cell)


def row_error(path: Path, row: InputRow) -> str:
    """The error message for a row."""
    return one_line(f"{display_name(path)}: line {row.line} {row.error}")
