"""Pairs of translations: read from a file, or made of the numerals or the words that both sides have."""

import re
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
from pyarrow import compute

from niwaki.core.errors import InputError
from niwaki.data import dataset_files
from niwaki.data.folders import kind_of
from niwaki.vectors.table import WordVectors

Pairs = list[tuple[str, str]]
NUMERAL = re.compile(r"\d+(?:[.,:/-]\d+)*")
SOURCE, TARGET, SPLIT = "source", "target", "split"
SHARED = {
    "numerals": lambda word: bool(NUMERAL.fullmatch(word)),
    "identical": lambda word: True,
}  # what both sides may have in common


def read(path: Path, part: str) -> Pairs:
    """A table with columns source and target, or a text file with two words a line, as MUSE's are. Of a table with the column `split`,
    the rows of that part (train or test)."""
    if not path.is_file():
        raise InputError(f"{path}: is not a file of word pairs, and none of {', '.join(SHARED)}")
    pairs = _of_table(path, part) if kind_of(path) else _of_text(path)
    if not pairs:
        raise InputError(f"{path}: has no word pairs")
    return list(dict.fromkeys(pairs))


def _of_table(path: Path, part: str) -> Pairs:
    table = dataset_files.read_table(path)
    missing = [name for name in (SOURCE, TARGET) if name not in table.column_names]
    if missing:
        raise InputError(f"{path}: has no column '{missing[0]}'; word pairs need the columns {SOURCE} and {TARGET}")
    if SPLIT in table.column_names:
        table = table.filter(compute.equal(table.column(SPLIT), part))
    words = (table.column(name).cast(pa.string()).to_pylist() for name in (SOURCE, TARGET))
    return [(source, target) for source, target in zip(*words, strict=True) if source and target]


def _of_text(path: Path) -> Pairs:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8") from None
    pairs = []
    for number, line in enumerate(lines, start=1):
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) != 2:
            raise InputError(f"{path}: line {number} is not two words")
        pairs.append((cells[0].strip(), cells[1].strip()))
    return pairs


def shared(kind: str, source: WordVectors, target: WordVectors) -> Pairs:
    """Words that both tables have: `numerals`, or all that are `identical`."""
    pairs = [(word, word) for word in source.words if word in target.number_of and SHARED[kind](word)]
    if not pairs:
        raise InputError(f"dictionary '{kind}': the two tables have no such words in common; give a file of word pairs")
    return pairs


def known(pairs: Iterable[tuple[str, str]], source: WordVectors, target: WordVectors) -> Pairs:
    """The pairs of which both words have vectors."""
    return [(a, b) for a, b in pairs if a in source.number_of and b in target.number_of]
