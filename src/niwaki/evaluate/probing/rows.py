"""Annotated sentences, and the examples that probes make of them."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.core.seeds import numpy_generator
from niwaki.data.dataset_files import read_splits
from niwaki.evaluate.probes._probe import Example, Probe, Sentence, column
from niwaki.evaluate.probing.classifier import Labelled, labelled

WORDS = ("tokens", "words")
TEST_SHARE = 0.3  # of the sentences
FEWEST = 40  # training examples


def read_sentences(sources: Sequence[str | Path], most: int, seed: int) -> list[Sentence]:
    """The sentences of files, at most so many, drawn at random. Each needs a column of words; the probes say what else."""
    found: list[Sentence] = []
    for source in sources:
        tables = read_splits(source)
        found += [row for table in tables.values() for row in _rows(source, table, most, seed)]
    return found


def _rows(source: str | Path, table: pa.Table, most: int, seed: int) -> list[Sentence]:
    name = next((name for name in WORDS if name in table.column_names), None)
    if name is None:
        there = ", ".join(table.column_names[:20])
        raise InputError(f"{source}: has no column 'tokens' with the words of each sentence (there is: {there})")
    if table.num_rows > most:
        table = table.take(np.sort(numpy_generator(seed, "probe", str(source)).permutation(table.num_rows)[:most]))
    rows = [{key: _list(value) for key, value in row.items()} for row in table.to_pylist()]
    named = [{**row, "tokens": row[name]} for row in rows]
    return [row for row in named if row["tokens"]]


def _list(value: object) -> list[object]:
    """A list, or a cell of a table of text that holds one as JSON."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    return value if isinstance(value, list) else []


def missing(probe: Probe, sentences: Sequence[Sentence]) -> str:
    """The columns that a probe needs and no sentence has."""
    absent = [names for names in probe.columns if not any(column(one, names) for one in sentences)]
    return "; ".join(" or ".join(f"'{name}'" for name in names) for names in absent)


def examples_of(probe: Probe, sentences: Sequence[Sentence], most: int, seed: int) -> Labelled | str:
    """Examples split by sentence and drawn at random, or why there are none."""
    if absent := missing(probe, sentences):
        return f"the rows have no column {absent}"
    generator = numpy_generator(seed, "probe", "split")
    is_test = generator.random(len(sentences)) < TEST_SHARE
    whole = list(probe.examples([_complete(one) for one in sentences]))
    sides: list[list[Example]] = [[one for one in whole if is_test[one.sentence] == side] for side in (False, True)]
    drawn = [
        _drawn(side, round(most * share), generator)
        for side, share in zip(sides, (1 - TEST_SHARE, TEST_SHARE), strict=True)
    ]
    if len(drawn[0]) < FEWEST or not drawn[1] or len({one.label for one in drawn[0]}) < 2:
        return f"the rows give {len(drawn[0])} training examples, and {FEWEST} with two labels are needed"
    return labelled(drawn[0], drawn[1], seed)


def _drawn(examples: list[Example], most: int, generator: np.random.Generator) -> list[Example]:
    """In a random order, in which their labels are encoded."""
    return [examples[place] for place in generator.permutation(len(examples))[:most]]


def _complete(sentence: Sentence) -> Sentence:
    """A sentence without the columns that do not have a value for each word."""
    words = len(sentence["tokens"])
    return {name: values for name, values in sentence.items() if len(values) == words}
