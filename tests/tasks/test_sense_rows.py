"""Sentences with sense keys to rows."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from niwaki.core.errors import InputError
from niwaki.tasks.senses import Senses
from tasks.inventory import write_inventory, write_xml
from tasks.rows import counts, jsonl
from tasks.sense_rows import ROWS


def test_sentences_without_targets_are_left_out(tmp_path):
    write_inventory(tmp_path / "wordnet30")
    dumb = {"tokens": ["a"], "lemmas": ["a"], "pos": ["DET"], "instance_ids": [None], "sense_keys": [None]}
    assert sum(counts(Senses(path=jsonl(tmp_path / "rows.jsonl", [*ROWS, dumb]))).values()) == 40


def test_rows_are_read_from_xml(tmp_path):
    write_inventory(tmp_path / "wordnet30")
    write_xml(tmp_path, "mine", ROWS)
    task = Senses(path=str(tmp_path / "mine.data.xml"), glosses="words")
    assert sum(counts(task).values()) == 40 and task.inputs(task.splits()["test"])[0].targets[0].lemma == "film"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({**ROWS[0], "lemmas": ["a"]}, "row 41 of the all rows: tokens, lemmas, .* lists of the same length"),
        ({**ROWS[0], "tokens": ["the", "", "was", "superb", "x"]}, "row 41 of the all rows: a word is empty"),
        (
            {**ROWS[0], "pos": ["X"] * 5},
            r"word 2 \('film'\) has senses, and no lemma or no part of speech that has any \(X\)",
        ),
        ({**ROWS[0], "tokens": None}, "lists of the same length"),
    ],
)
def test_invalid_rows_are_rejected_in_one_line(tmp_path, row, words):
    write_inventory(tmp_path / "wordnet30")
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist([*ROWS, row]), path)
    with pytest.raises(InputError, match=words) as caught:
        Senses(path=str(path)).splits()
    assert "\n" not in str(caught.value)
