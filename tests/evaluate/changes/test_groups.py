"""Groups of rows by hand, and rows that no grouping may stumble over."""

import numpy as np
import pytest

from niwaki.answers._answer_type import EncodedInputs
from niwaki.data.ragged import Ragged
from niwaki.evaluate.changes import groups as grouping


def encoded(rows, index=None):
    ids = Ragged.of(rows)
    return EncodedInputs({"input_ids": ids}, np.arange(len(rows)) if index is None else np.array(index), [])


def named(groups):
    return {group.name: group.rows.astype(int).tolist() for group in groups}


def test_classes_are_labels_or_members_of_lists():
    assert named(grouping.by_class(["a", "b", "a", "b"])) == {"a": [1, 0, 1, 0], "b": [0, 1, 0, 1]}
    assert named(grouping.by_class([["a"], ["a", "b"], [], ["b"]])) == {"a": [1, 1, 0, 0], "b": [0, 1, 0, 1]}
    assert grouping.by_class([1.5, 2.5, 1.5, 2.5]) == [] and grouping.by_class(["x"] * 5) == []
    assert grouping.by_class([str(number) for number in range(50)]) == [], "all different: no classes"
    assert grouping.by_class([["text"], {"start": 1}]) == []


def test_lengths_are_quartiles_of_all_tokens_of_an_input():
    sizes = [1, 2, 3, 4, 5, 6, 7, 8]
    found = named(grouping.by_length(encoded([[0] * size for size in sizes])))
    assert list(found) == ["1 to 2 tokens", "3 to 4 tokens", "5 to 6 tokens", "7 to 8 tokens"]
    assert grouping.tokens_of(encoded([[0], [0, 0], [0]], [0, 0, 1])).tolist() == [3, 1]
    assert grouping.by_length(encoded([[0], [0]])) == [], "equal lengths are no groups"


def test_rare_words_are_counted_in_other_rows():
    known = [["film plot"]] * 12 + [["odd film"]]
    rows = [["a film"], ["odd film"], ["Film, plot!"], [""]]
    found = named(grouping.by_rarity(rows, known, False, "train"))
    assert found == {
        "a word in no train row": [1, 0, 0, 0],
        "rarest word in 1 to 9 train rows": [0, 1, 0, 0],
        "all words in 10 train rows or more": [0, 0, 1, 1],
    }
    assert list(named(grouping.by_rarity([["odd"], ["film plot"]], known, True, "other"))) == [
        "a word in no other row",
        "all words in 10 other rows or more",
    ]


@pytest.mark.parametrize("text", ["It is not good", "it ISN'T", "ca n't", "don’t", "without end", "Never."])
def test_negations(text):
    assert named(grouping.by_negation([[text], ["a note of nothingness, another knot, want"]])) == {
        "with negation": [1, 0],
        "without negation": [0, 1],
    }


def test_rows_that_the_second_tokenizer_does_not_know():
    before, after = encoded([[5, 6], [5], [9]]), encoded([[5, 7, 8], [1], [9]])
    found = named(grouping.by_spelling(before, after, [1, 1, 1], unknown=1))
    assert found["more tokens in B than in A"] == [1, 0, 0] and found["unknown token in B alone"] == [0, 1, 0]
    assert "unknown token in B alone" not in named(grouping.by_spelling(before, after, [1, 1, 1], None))


def test_columns_of_values_and_of_numbers():
    assert named(grouping.by_column("site", ["x", None, "x", ""])) == {"(empty)": [0, 1, 0, 1], "x": [1, 0, 1, 0]}
    numbers = grouping.by_column("age", [*range(99), None])
    assert [group.name for group in numbers] == ["0 to 24", "25 to 49", "50 to 73", "74 to 98"]
    assert sum(int(group.rows.sum()) for group in numbers) == 99
    many = grouping.by_column("id", [f"user {number}" for number in range(80)])
    assert len(many) == grouping.MAX_VALUES + 1 and many[-1].rows.sum() == 30
