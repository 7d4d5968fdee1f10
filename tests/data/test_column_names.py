"""Columns are recognised by their names."""

from pathlib import Path

import pytest

from niwaki.core.errors import InputError
from niwaki.data import column_names


def test_case_spaces_and_punctuation_do_not_matter():
    assert column_names.normalize("Sentence_1") == column_names.normalize("sentence-1") == "sentence1"
    assert column_names.known(["Label", "x"], ["label"]) == ["Label"]


def test_names_of_the_second_rank_count_only_without_one_of_the_first():
    assert column_names.known(["gold", "label"], ["label"], ["gold"]) == ["label"]
    assert column_names.known(["gold", "x"], ["label"], ["gold"]) == ["gold"]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (["premise", "hypothesis", "label"], [("premise", "hypothesis")]),
        (["premise_de", "hypothesis_de", "premise_en"], [("premise_de", "hypothesis_de")]),
        (["premise", "label"], []),
    ],
)
def test_pairs_of_texts_are_recognised(columns, found):
    assert column_names.pairs(columns) == found


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (["ending1", "ending0", "label"], ["ending0", "ending1"]),
        (["option_b", "option_a"], ["option_a", "option_b"]),
        (["ending10", "ending9"], ["ending9", "ending10"]),
        (["ending0"], []),
        (["ending0", "ending1", "option_a", "option_b"], []),
    ],
)
def test_endings_are_in_the_order_of_their_numbers(columns, found):
    assert column_names.endings(columns) == found


@pytest.mark.parametrize("name", ["id", "Unnamed: 0", "row_id", "lang", "my split"])
def test_metadata_is_recognised_by_name(name):
    assert column_names.is_metadata(name) and not column_names.is_metadata("text")


def test_ambiguous_texts_are_rejected():
    with pytest.raises(InputError, match=r"which column holds the texts is not clear \(there is: a, b\); name one"):
        column_names.only_choice([["a"], ["b"]], Path("rows.csv"), ["a", "b"], "name one")
    assert column_names.only_choice([["a"]], Path("rows.csv"), ["a"], "") == ["a"]
