"""Exemplars and their overlap, by hand."""

import pytest

from niwaki.evaluate.changes.pie import modal_values, overlap, pie, pie_rows


def same(a, b):
    return a == b


DENSE = ["abca", "abcb", "bbcc"]  # modal: a b c, and a for the tie of the last row
COMPRESSED = ["abba", "accb", "acba"]  # modal: a c b a


def test_most_frequent_answers_and_exemplars_by_hand():
    assert "".join(modal_values(DENSE, same)) == "abca" and "".join(modal_values(COMPRESSED, same)) == "acba"
    assert pie_rows(DENSE, COMPRESSED, same).tolist() == [False, True, True, False]


def test_overlap_is_hypergeometric():
    import numpy as np

    first = np.arange(10) < 5
    found = overlap(first, first)
    assert (found["both"], found["expected"], found["times"]) == (5, 2.5, 2)
    assert found["p"] == pytest.approx(1 / 252)  # one of 10 over 5 sets
    assert overlap(first, ~first)["p"] == 1 and overlap(first, first & ~first)["times"] is None


def test_halves_need_two_seeds_of_each_model():
    assert pie(DENSE[:3], COMPRESSED[:3], same)["halves"] is None
    found = pie(DENSE[:2] * 2, COMPRESSED[1:] * 2, same)
    assert found["seeds"] == [4, 4] and found["rows"] == [1, 3] and found["share"]["count"] == 2
    assert found["halves"]["both"] == found["halves"]["first"] == found["halves"]["second"] == 2
    assert found["halves"]["between_dense"]["count"] == 0
