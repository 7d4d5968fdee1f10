"""Sentences with predicates and arguments, a word a line: CoNLL-U with propositions (.conllu) and CoNLL's spans (.conll).

CoNLL-U of the Universal Propositions marks the head word of an argument: after its ten columns the roleset, then a column for each
predicate in the order of the sentence. Its older files have a flag (Y) and the roleset in the place of the last two of the ten.
CoNLL's spans are doc, number, word, part of speech, roleset (or -), then a column of brackets for each predicate: `(ARG0*`, `*)`.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.data.limits import check_row_size
from niwaki.data.utf8 import blocks

SENTENCES = 2000  # of a batch
NOTHING = ("_", "-", "")
WORDS, SPAN = (
    pa.list_(pa.string()),
    {"predicate": pa.int32(), "start": pa.int32(), "end": pa.int32(), "label": pa.string()},
)
NUMBERS, HEAD = pa.list_(pa.int32()), {"predicate": pa.int32(), "token": pa.int32(), "label": pa.string()}
PREDICATES = {"predicates": NUMBERS, "rolesets": WORDS}
BY_HEADS = pa.schema(
    {
        "tokens": WORDS,
        "lemmas": WORDS,
        "upos": WORDS,
        "head": NUMBERS,
        "deprel": WORDS,
        **PREDICATES,
        "args": pa.list_(pa.struct(HEAD)),
    }
)
BY_SPANS = pa.schema({"tokens": WORDS, "xpos": WORDS, **PREDICATES, "args": pa.list_(pa.struct(SPAN))})
BRACKETS = re.compile(r"((?:\([^()*\s]+)*)\*(\)*)")
MAX_WORDS = 100_000  # of a sentence
Cells = list[list[str]]  # a row for each word


class Fault(Exception):
    """What is wrong with a sentence."""


def batches(path: Path, spans: bool) -> Iterator[pa.RecordBatch]:
    read, schema = (read_spans, BY_SPANS) if spans else (read_heads, BY_HEADS)
    found = (_read(path, number, cells, read) for number, cells in sentences(path))
    while some := list(islice(found, SENTENCES)):
        yield pa.RecordBatch.from_pylist(some, schema)


def _read(path: Path, number: int, cells: Cells, read: Any) -> Json:
    try:
        return read(cells)
    except Fault as fault:
        raise InputError(f"{path}: the sentence at line {number} {fault}") from None


def sentences(path: Path) -> Iterator[tuple[int, Cells]]:
    """The number of its first line, and its words. Remarks, words in one (1-2) and words left out (8.1) are passed over."""
    found: Cells = []
    first = 1
    for number, line in enumerate(lines(path), 1):
        text = line.rstrip("\r\n")
        if not text.strip():
            if found:
                yield first, found
            first, found = number + 1, []
        elif not text.startswith("#"):
            cells = text.split("\t") if "\t" in text else text.split()
            if not re.fullmatch(r"\d+[-.]\d+", cells[0]) or len(cells) < 8:
                found.append(cells[:-1] if cells[-1] == "" else cells)
            if len(found) > MAX_WORDS:
                raise InputError(
                    f"{path}: line {number} is word {len(found)} of a sentence; put empty lines between sentences"
                )
    if found:
        yield first, found


def lines(path: Path) -> Iterator[str]:
    rest, number = b"", 0
    for block in blocks(path):
        *whole, rest = (rest + block).split(b"\n")
        check_row_size(path, len(rest), number + len(whole) + 1, "line")
        for line in whole:
            number += 1
            check_row_size(path, len(line), number, "line")
            yield line.decode()
    if rest:
        yield rest.decode()


def read_heads(cells: Cells) -> Json:
    """Of CoNLL-U. Which of the two layouts it has shows in the number of columns."""
    columns = width(cells)
    if columns < 10:
        raise Fault(f"has {columns} columns; CoNLL-U has ten, and those of the propositions after them")
    older = {row[8] for row in cells} <= {"Y", "_"} and columns == 10 + sum(row[8] == "Y" for row in cells)
    rolesets = [row[9] if older and row[8] == "Y" else "_" if older or columns == 10 else row[10] for row in cells]
    roles = [row[10 if older else 11 :] for row in cells]
    predicates = predicates_of(rolesets, roles, "CoNLL-U has eleven and one for each")
    heads = [int(row[6]) if row[6].isascii() and row[6].isdigit() else -1 for row in cells]
    return {
        "tokens": [row[1] for row in cells],
        "lemmas": [row[2] for row in cells],
        "upos": [row[3] for row in cells],
        "head": heads if all(0 <= head <= len(cells) for head in heads) else [],
        "deprel": [row[7] for row in cells],
        "predicates": predicates,
        "rolesets": [rolesets[at] for at in predicates],
        "args": [
            {"predicate": place, "token": at, "label": label}
            for place in range(len(predicates))
            for at, row in enumerate(roles)
            if (label := row[place]) not in NOTHING
        ],
    }


def read_spans(cells: Cells) -> Json:
    columns = width(cells)
    if columns < 5:
        raise Fault(
            f"has {columns} columns; there are document, number, word, part of speech, roleset, and one for each predicate"
        )
    rolesets, roles = [row[4] for row in cells], [row[5:] for row in cells]
    predicates = predicates_of(rolesets, roles, "there are five and one for each")
    args = [
        {"predicate": place, **span}
        for place in range(len(predicates))
        for span in spans_of(row[place] for row in roles)
    ]
    return {
        "tokens": [row[2] for row in cells],
        "xpos": [row[3] for row in cells],
        "predicates": predicates,
        "rolesets": [rolesets[at] for at in predicates],
        "args": args,
    }


def width(cells: Cells) -> int:
    widths = {len(row) for row in cells}
    if len(widths) > 1:
        raise Fault(f"has lines of {min(widths)} and of {max(widths)} columns; every word needs as many")
    return widths.pop()


def predicates_of(rolesets: list[str], roles: Cells, rule: str) -> list[int]:
    """Numbers of the words that have a roleset; there must be a column of roles for each."""
    found = [at for at, roleset in enumerate(rolesets) if roleset not in NOTHING]
    if len(roles[0]) != len(found):
        raise Fault(f"has {len(found)} predicates and {len(roles[0])} columns of arguments; {rule}")
    return found


def spans_of(column: Iterable[str]) -> Iterator[Json]:
    """Brackets to stretches; those inside others come first."""
    open_: list[tuple[str, int]] = []
    for at, cell in enumerate(column):
        match = BRACKETS.fullmatch(cell)
        if match is None:
            raise Fault(f"has an argument written '{cell[:40]}'; it is brackets around a star, (ARG0*)")
        open_ += [(label, at) for label in match[1].split("(")[1:]]
        for _ in match[2]:
            if not open_:
                raise Fault(f"closes an argument at word {at + 1} that was not opened")
            label, start = open_.pop()
            yield {"start": start, "end": at + 1, "label": label}
    if open_:
        raise Fault(f"does not close argument '{open_[-1][0]}'")
