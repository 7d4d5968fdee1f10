"""Texts without labels, of a user's own: lines of plain text files, or a column of a table (two, where they are a known pair)."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.core.files import files_below, fingerprint, sha256
from niwaki.core.seeds import numpy_generator
from niwaki.data import column_names, dataset_files
from niwaki.data.cells import is_text
from niwaki.data.folders import READERS, kind_of
from niwaki.data.limits import MAX_ROW_BYTES, check_row_size

PLAIN = (".txt", ".text")
Text = str | tuple[str, str]


def sample_texts(path: Path, count: int, seed: int, exclude: Callable[[Text], bool] = lambda _: False) -> list[Text]:
    """`count` different texts, each as likely as any other; fewer where there are fewer. Not more than these are held. Some may be
    passed over, as if they were not there."""
    generator = numpy_generator(seed, "unlabelled")
    chosen: list[Text] = []
    seen: set[bytes] = set()
    for text in texts(path):
        digest = hashlib.blake2b(repr(text).encode(), digest_size=8).digest()
        if digest in seen or exclude(text):
            continue
        seen.add(digest)
        if len(chosen) < count:
            chosen.append(text)
        elif (place := int(generator.integers(len(seen)))) < count:
            chosen[place] = text
    return chosen


def texts(path: Path, fix: str = "keep one column of text, or name it 'text'") -> Iterator[Text]:
    """Every text of a file, or of all files in a folder that are plain text, else of the tables there."""
    lines = [file for file in plain_files(path) if is_plain(file)]
    if tables := [file for file in plain_files(path) if lines and kind_of(file)]:
        raise InputError(
            f"{path}: holds both lines of text ({lines[0].name}) and tables ({tables[0].name}); name the file that is meant"
        )
    for file in lines:
        yield from filled_lines(file)
    if path.exists() and not lines and not any(kind_of(file) for file in plain_files(path)):
        raise InputError(f"{path}: is no file of texts, and holds none; there is: {', '.join((*PLAIN, *READERS))}")
    for table in dataset_files.read_splits(path).values() if not lines else ():
        columns = text_columns(table, path, fix)
        for batch in table.select(columns).to_batches():
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                texts = tuple((text or "").strip() for text in row)
                if all(texts):
                    yield texts[0] if len(texts) == 1 else (texts[0], texts[1])


def single_texts(path: Path, columns: Sequence[str]) -> Iterator[str]:
    """Every text by itself: cells of the columns of a table, or lines of whatever is none. No columns: as above."""
    if path.is_file() and not kind_of(path):
        if columns:
            raise InputError(f"{path}: is read as lines of text and has no column '{columns[0]}'")
        yield from filled_lines(path)
        return
    if not columns:
        for text in texts(path, "say which with --column"):
            yield from (text,) if isinstance(text, str) else text
        return
    for table in dataset_files.read_splits(path, list(columns)).values():
        unlike = [field for field in table.schema if not is_text(field.type)]
        if unlike:
            raise InputError(f"{path}: column '{unlike[0].name}' holds {unlike[0].type}, not text; name one that does")
        for batch in table.to_batches():
            for column in batch.columns:
                yield from (text for text in column.to_pylist() if text)


def text_columns(table: pa.Table, path: Path, fix: str) -> list[str]:
    """The one column of texts, or the two of a known pair; InputError if several could be meant."""
    found = [
        field.name
        for field in table.schema
        if is_text(field.type) and column_names.normalize(field.name) not in column_names.METADATA
    ]
    return column_names.only_choice(column_names.texts(found), path, table.column_names, fix)


def is_plain(file: Path) -> bool:
    return file.suffix.lower() in PLAIN


def plain_files(path: Path) -> list[Path]:
    return files_below(path) if path.is_dir() else [path]


def digest(path: Path) -> str:
    """Changes when a text does, wherever the files lie."""
    if not path.exists():
        raise InputError(f"{path}: is not there")
    if not path.is_dir() and not path.is_file():  # a device never ends
        raise InputError(f"{path}: is not a plain file")
    return fingerprint([[sha256(file), "lines" if is_plain(file) else kind_of(file)] for file in plain_files(path)])


def filled_lines(path: Path) -> Iterator[str]:
    """The lines that are not blank, without space around them."""
    return filter(None, (line.strip() for line in raw_lines(path)))


def raw_lines(path: Path) -> Iterator[str]:
    """The lines of a text file with their ends, none longer than a row may be."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(MAX_ROW_BYTES + 1), ""), start=1):
                check_row_size(path, len(line), number, "line")
                yield line
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: is not text in UTF-8 ({error.reason} at byte {error.start}); convert it first"
        ) from None
