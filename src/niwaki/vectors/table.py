"""A table of word vectors, as word2vec, fastText and GloVe write it: a word and its numbers on each line, most frequent words first."""

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TextIO

import numpy as np

from niwaki.core.errors import InputError

MOST_NUMBERS = 100_000  # of a vector; a file with longer lines is another kind of file


@dataclass(frozen=True)
class WordVectors:
    words: list[str]
    vectors: np.ndarray  # (words, size), float32

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def first(self, count: int) -> "WordVectors":
        """The first words, which are the most frequent ones; 0 keeps all."""
        return WordVectors(self.words[:count], self.vectors[:count]) if 0 < count < len(self) else self

    def with_vectors(self, vectors: np.ndarray) -> "WordVectors":
        return WordVectors(self.words, vectors)

    def write(self, path: Path) -> None:
        """With word2vec's header: the number of words and the size. The file appears when it is whole."""
        partial = path.with_name(f"{path.name}.part")
        try:
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                file.write(f"{len(self)} {self.vectors.shape[1]}\n")
                for word, vector in zip(self.words, self.vectors, strict=True):
                    file.write(f"{word} {' '.join(format(number, '.6g') for number in vector.tolist())}\n")
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def read(path: Path, limit: int = 0) -> WordVectors:
    """The first `limit` words (0: all). The first of two equal words counts."""
    if not path.is_file():
        raise InputError(f"{path}: is not a file of word vectors")
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            return _table(path, file, limit)
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8; convert binary word2vec files to text first") from None
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None


def _table(path: Path, file: TextIO, limit: int) -> WordVectors:
    found: dict[str, np.ndarray] = {}
    for word, vector in _lines(path, file):
        found.setdefault(word, vector)
        if len(found) == limit:
            break
    if not found:
        raise InputError(f"{path}: has no word vectors")
    return WordVectors([*found], np.stack([*found.values()]))


def _lines(path: Path, file: TextIO) -> Iterator[tuple[str, np.ndarray]]:
    size = 0
    for number, line in enumerate(file, start=1):
        cells = line.rstrip("\n").rstrip(" ").split(" ")
        if number == 1 and _is_header(cells):
            size = int(cells[1])
            continue
        size = size or len(cells) - 1
        word, values = " ".join(cells[: len(cells) - size]), cells[len(cells) - size :]
        if not word or not 0 < size <= MOST_NUMBERS:
            raise InputError(f"{path}: line {number} is not a word with {size} numbers")
        yield word, _vector(values, f"{path}: line {number}")


def _is_header(cells: Sequence[str]) -> bool:
    return len(cells) == 2 and all(cell.isdecimal() for cell in cells)


def _vector(values: Sequence[str], where: str) -> np.ndarray:
    try:
        vector = np.array(values, dtype=np.float32)
    except ValueError:
        raise InputError(f"{where} is not a word with {len(values)} numbers") from None
    if not np.isfinite(vector).all():
        raise InputError(f"{where} has a number that is not finite")
    return vector
