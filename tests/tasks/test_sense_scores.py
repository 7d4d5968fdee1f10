"""Scores of senses by hand: several right ones, several said, none said."""

import numpy as np
import pytest

from niwaki.tasks import _sense_scores as scoring


@pytest.mark.parametrize(
    ("said", "gold", "wanted"),
    [
        ("a", ["a"], (1, 1)),
        ("a", ["b"], (0, 1)),
        ("a", ["b", "a"], (1, 1)),  # any of several right ones
        (["a", "b"], ["a"], (0.5, 1)),  # several said share the point
        (["a", "b"], ["a", "b"], (1, 1)),
        (None, ["a"], (0, 0)),
        ("", ["a"], (0, 0)),
        ([], ["a"], (0, 0)),
    ],
)
def test_points(said, gold, wanted):
    assert scoring.points(said, gold) == wanted


def test_scores_by_hand():
    """Two sentences: nouns 1 right of 2; verbs 1 right, 1 not answered; an adverb wrong."""
    first = scoring.counts(["a", "b", None], [["a"], ["c"], ["d"]], ["noun", "noun", "verb"])
    second = scoring.counts(["e", "f"], [["e", "g"], ["h"]], ["verb", "adv"])
    assert first.tolist() == [1, 2, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    found = scoring.scores(np.stack([first, second]))
    assert found == pytest.approx(
        {
            "f1": 2 * 2 / (4 + 5),
            "precision": 2 / 4,
            "recall": 2 / 5,
            "f1_nouns": 1 / 2,
            "f1_verbs": 2 * 1 / (1 + 2),
            "f1_adverbs": 0,
        }
    )
    assert "f1_adjectives" not in found  # nobody asked about one


def test_where_all_are_answered_it_is_the_share_of_right_ones():
    found = scoring.scores(scoring.counts(["a", "b", "c"], [["a"], ["b"], ["x"]], ["noun"] * 3)[None])
    assert found["f1"] == found["precision"] == found["recall"] == pytest.approx(2 / 3)


def test_nothing_said_is_no_fault():
    assert scoring.scores(scoring.counts([None], [["a"]], ["noun"])[None])["f1"] == 0
