"""Tasks are recognised by the shape of their columns."""

import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.data import task_columns

TOKENS = [["a", "dull", "film"], ["fine"]] * 10
TAGS = [["O", "B", "O"], ["B"]] * 10
CONTEXTS = [f"the film number {number} was long and the end was dull" for number in range(60)]


def test_tags_are_lists_as_long_as_the_tokens():
    rows = pa.table({"tokens": TOKENS, "ner": TAGS, "other": [["x"]] * 20})
    assert task_columns.tagging(rows, {}) == ({"tokens": "tokens", "tags": "ner"}, [])


def test_several_columns_of_tags_are_returned_as_candidates():
    rows = pa.table({"tokens": TOKENS, "ner": TAGS, "chunks": TAGS})
    assert task_columns.tagging(rows, {}) == (None, ["ner", "chunks"])
    assert task_columns.tagging(rows, {"tags": "ner"}) == ({"tokens": "tokens", "tags": "ner"}, [])


def test_answers_must_be_found_in_the_context():
    rows = pa.table({"context": CONTEXTS, "answer": [f"number {number}" for number in range(60)]})
    assert task_columns.answers_lie_in(rows, "context", "answer")
    other = pa.table({"context": CONTEXTS, "answer": [f"nowhere {number}" for number in range(60)]})
    assert not task_columns.answers_lie_in(other, "context", "answer")


def test_choices_are_columns_of_endings_or_lists():
    columns = {"text": CONTEXTS, "ending0": CONTEXTS, "ending1": CONTEXTS, "label": [0, 1] * 30}
    found = task_columns.choice(pa.table(columns), {})
    assert found == {"text": "text", "endings": ["ending0", "ending1"], "label": "label"}
    lists = {"text": CONTEXTS, "choices": [["a", "b"]] * 60, "label": [0, 1] * 30}
    assert task_columns.choice(pa.table(lists), {}) == {"text": "text", "endings": "choices", "label": "label"}
    assert task_columns.choice(pa.table({"text": CONTEXTS, "label": [0, 1] * 30}), {}) is None


def test_two_possible_beginnings_are_rejected():
    rows = pa.table({"question": CONTEXTS, "article": CONTEXTS})
    with pytest.raises(InputError, match=r"the text could be 'article' or 'question'|'question' or 'article'"):
        task_columns.start_of(rows, ["question", "article"])
