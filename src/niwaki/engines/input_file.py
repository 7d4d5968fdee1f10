"""Inputs of a file one after the other, never the whole of it: lines of text, of JSON, or of csv. What is wrong with one is said of
it alone, with its line."""

import codecs
import csv
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from niwaki.answers._answer_type import AnswerType, Columns, Input, input_error
from niwaki.core.errors import InputError, first_line
from niwaki.core.redaction import one_line
from niwaki.data.column_names import FIRST_LABEL, is_metadata, normalize, only_choice
from niwaki.data.folders import kind_of
from niwaki.data.limits import MAX_ROW_BYTES, check_column_count
from niwaki.data.utf8 import BOMS, MAGIC, Stream, blocks, open_binary
from niwaki.engines.stdin import stdin

FAULTS = (OSError, EOFError, zlib.error)  # of a disk, of a packed file
STDIN = Path("-")
IDS = (
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
)  # what names a row, the best first


@dataclass(frozen=True)
class InputRow:
    """One input, or what is wrong with it."""

    line: int  # where it begins, counted from 1
    given: Input = None
    about: dict[str, Any] = field(default_factory=dict)  # what tells a reader of the answers which input it was
    fault: str = ""


class RowError(Exception):
    """What is wrong with one row."""


class InputLines:
    """The lines of a file, and the hash of those that were read: whether a second reading is of the same lines, it tells.
    Where `stop` says so, standard input is waited for no longer: it ends there."""

    def __init__(self, path: Path, stop: Callable[[], bool] = lambda: False) -> None:
        self.path = path
        self.closed = False
        self.number = 0
        self.bytes = 0
        self.size = path.stat().st_size if path.suffix != ".gz" and path != STDIN else 0  # 0 where it is not known
        self._hash = hashlib.sha256()
        self._file = stdin(lambda: self.closed or stop()) if path == STDIN else _binary(path)

    def __iter__(self) -> Iterator[bytes]:
        while line := self._read(MAX_ROW_BYTES + 1):
            self._count(line)
            self.number += 1
            if self.number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)  # of stdin; a file's is passed over as it is opened
            if len(line) > MAX_ROW_BYTES and not line.endswith(b"\n"):
                self._pass_over()
            yield line

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    def _read(self, most: int) -> bytes:
        try:
            return self._file.readline(most)
        except FAULTS as error:
            raise InputError(
                f"{display_name(self.path)}: cannot be read on after line {self.number} ({first_line(error)})"
            ) from None

    def _count(self, part: bytes) -> None:
        self.bytes += len(part)
        self._hash.update(part)

    def _pass_over(self) -> None:
        """The rest of a line that is too long, without holding it."""
        while part := self._read(MAX_ROW_BYTES):
            self._count(part)
            if part.endswith(b"\n"):
                return

    def close(self) -> None:
        self.closed = True  # first: whoever waits for a line holds the file until then
        self._file.close()


def _binary(path: Path) -> Any:
    """Bytes of UTF-8, unchecked: a line that is none is one bad line. UTF-16 and 32 are converted where a mark says so."""
    file = open_binary(path)
    start = file.read(4)
    for magic, known in MAGIC.items():
        if start.startswith(magic):
            raise InputError(f"{path}: cannot be read as text; it is {known}")
    mark = next((mark for mark in BOMS if start.startswith(mark)), b"")
    if mark in (b"", codecs.BOM_UTF8):
        file.seek(len(mark))
        return file
    file.close()
    return io.BufferedReader(_Whole(blocks(path)))


class _Whole(Stream):
    """Blocks as a file that a buffer can read from."""

    def readinto(self, room: Any) -> int:
        part = self.read(len(room))
        room[: len(part)] = part
        return len(part)


def read_inputs(lines: InputLines, kind: AnswerType, columns: Sequence[str] = ()) -> Iterator[InputRow]:
    """Every input of the file. Of a table the columns are those given, else they are told by their names, at the first row."""
    form = kind_of(lines.path)
    if form in (".csv", ".tsv"):
        records = _delimited(lines, "\t" if form == ".tsv" else ",")
    elif form == ".jsonl":
        records = _objects(lines)
    elif form:
        raise InputError(f"{lines.path}: {form[1:]} is not read piece by piece; write it as jsonl, one object a line")
    else:
        yield from (
            _row(number, kind, said, lambda line: (kind.from_line(line), {"text": line}))
            for number, said in _texts(lines)
        )
        return
    reading: _Reading | None = None
    for number, said in records:
        if reading is None and isinstance(said, dict):
            reading = _Reading(lines.path, kind, said, columns)
        yield _row(number, kind, said, reading)


def check_columns_exist(path: Path, columns: Sequence[str]) -> None:
    """Where columns are named of what has none: they would be passed over, and whole lines answered."""
    if columns and not kind_of(path):
        raise InputError(
            f"{display_name(path)}: holds a text a line and has no column '{columns[0]}'; leave --column out, or give a .jsonl, .csv or .tsv file with --in"
        )


def _row(number: int, kind: AnswerType, said: Any, reading: Any) -> InputRow:
    """`said` is what lies in the file: a line, a table of cells, or what is wrong there."""
    about: dict[str, Any] = {}
    try:
        if isinstance(said, RowError):
            raise said
        given, about = reading(said)
        return InputRow(number, kind.check(given), about)
    except RowError as fault:
        return InputRow(number, None, about, str(fault))
    except (TypeError, ValueError) as error:
        about = about if "id" in about else {}  # a text that cannot be read cannot be written either
        return InputRow(number, None, about, input_error(error, kind, given))


class _Reading:
    """From the cells of a row to an input: which columns, decided once."""

    def __init__(self, path: Path, kind: AnswerType, first: dict[str, Any], columns: Sequence[str]) -> None:
        self.columns = list(columns) or self._told(path, kind, first)
        by_plain = {normalize(name): name for name in reversed(first)}
        self.id = next((by_plain[name] for name in IDS if name in by_plain), "")

    def _told(self, path: Path, kind: AnswerType, first: dict[str, Any]) -> Columns:
        names = [name for name, cell in first.items() if isinstance(cell, str | list)]
        names = [name for name in names if not is_metadata(name) and normalize(name) not in FIRST_LABEL]
        return only_choice(kind.columns(names), path, first, "say it with --column, twice for a pair")

    def __call__(self, cells: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        parts = [
            [_cell(cells, one) for one in name] if isinstance(name, list) else _cell(cells, name)
            for name in self.columns
        ]
        given = parts[0] if len(parts) == 1 else tuple(parts)
        own = cells.get(self.id)
        return given, {"id": own} if isinstance(own, str | int) else {"text": given}


def _cell(cells: dict[str, Any], name: str) -> Any:
    if name not in cells:
        raise RowError(f"has no '{name}'")
    return cells[name]


def _texts(lines: InputLines) -> Iterator[tuple[int, Any]]:
    for line in lines:
        try:
            yield lines.number, _text(line)
        except RowError as fault:
            yield lines.number, fault


def _text(line: bytes) -> str:
    if len(line) > MAX_ROW_BYTES:
        raise RowError(f"is longer than {MAX_ROW_BYTES >> 20} MB, which no text to be read is")
    try:
        return line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise RowError(
            f"is not UTF-8 ({error.reason} at byte {error.start} of the line); convert the file first"
        ) from None


def _objects(lines: InputLines) -> Iterator[tuple[int, Any]]:
    for number, text in _texts(lines):
        try:
            yield number, text if isinstance(text, RowError) else _object(text)
        except RowError as fault:
            yield number, fault


def _object(text: str) -> dict[str, Any]:
    if not text.strip():
        raise RowError("is empty; leave it out")
    try:
        value = json.loads(text)
    except RecursionError:
        raise RowError("is nested too deep") from None
    except ValueError as error:
        raise RowError(f"is not JSON ({first_line(error)})") from None
    if not isinstance(value, dict):
        raise RowError('is not an object; write {"text": …}')
    return value


def _delimited(lines: InputLines, mark: str) -> Iterator[tuple[int, Any]]:
    """Rows of csv by the names of the header. A cell may hold line ends."""
    csv.field_size_limit(MAX_ROW_BYTES)
    first = next(iter(lines), b"")
    head = first.decode("utf-8", "replace")
    mark = mark if mark in head else next((other for other in (",", ";", "\t") if other in head), mark)
    # bytes that are no UTF-8 are carried through the csv reader as half surrogate pairs, and found in their row
    decoded = (line.decode("utf-8", "surrogateescape") for line in _chained(first, lines))
    reader = csv.reader(decoded, delimiter=mark, strict=True)
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
            if _escaped("".join(names)):
                raise InputError(f"{lines.path}: its header is not UTF-8; convert the file first")
            check_column_count(lines.path, names)
        else:
            yield number, _named(names, cells)


def _chained(first: bytes, lines: InputLines) -> Iterator[bytes]:
    yield first
    yield from lines


def _named(names: list[str], cells: list[str]) -> Any:
    if not cells:
        return RowError("is empty; leave it out")
    if len(cells) != len(names):
        return RowError(
            f"has {len(cells)} cells and the header {len(names)}; put cells that hold the mark or a line break in double quotes"
        )
    if any(not cell.isascii() and _escaped(cell) for cell in cells):
        return RowError("is not UTF-8; convert the file first")
    return dict(zip(names, cells, strict=True))


def _escaped(cell: str) -> bool:
    return any("\udc80" <= sign <= "\udcff" for sign in cell)


def row_error(path: Path, row: InputRow) -> str:
    """The line of an error about a row."""
    return one_line(f"{display_name(path)}: line {row.line} {row.fault}")


def display_name(path: Path) -> str:
    return "stdin" if path == STDIN else str(path)
