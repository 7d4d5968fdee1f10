"""Scores of senses by hand: several right ones, several predicted, none predicted."""

import numpy as np
import pytest

from niwaki.tasks import _sense_scores as scoring
from tasks.inventory import key


@pytest.mark.parametrize(
    ("predicted", "gold", "wanted"),
    [
        ("a", ["a"], (1, 1)),
        ("a", ["b"], (0, 1)),
        ("a", ["b", "a"], (1, 1)),  # any of several right ones
        (["a", "b"], ["a"], (0.5, 1)),  # several predicted share the point
        (["a", "b"], ["a", "b"], (1, 1)),
        (None, ["a"], (0, 0)),
        ("", ["a"], (0, 0)),
        ([], ["a"], (0, 0)),
    ],
)
def test_points(predicted, gold, wanted):
    assert scoring.points(predicted, gold) == wanted


def test_scores_by_hand():
    """Two sentences: nouns 1 right of 2; verbs 1 right, 1 not answered; an adverb wrong. Three words have their first sense,
    of which 1 is right and 1 not answered; of two others 1 is right."""
    first = scoring.counts(["a", "b", None], [["a"], ["c"], ["d"]], ["noun", "noun", "verb"], [True, False, True])
    second = scoring.counts(["e", "f"], [["e", "g"], ["h"]], ["verb", "adv"], [False, True])
    assert first.tolist() == [0, 1, 1] + [0] * 9 + [1, 1, 1, 0, 0, 1] + [0] * 6
    found = scoring.scores(np.stack([first, second]))
    assert found == pytest.approx(
        {
            "f1": 2 * 2 / (4 + 5),
            "precision": 2 / 4,
            "recall": 2 / 5,
            "f1_nouns": 1 / 2,
            "f1_verbs": 2 * 1 / (1 + 2),
            "f1_adverbs": 0,
            "f1_first_sense": 2 * 1 / (2 + 3),
            "f1_other_senses": 1 / 2,
        }
    )
    assert "f1_adjectives" not in found  # nobody requested about one


def test_where_all_are_answered_it_is_the_share_of_right_ones():
    found = scoring.scores(scoring.counts(["a", "b", "c"], [["a"], ["b"], ["x"]], ["noun"] * 3, [True] * 3)[None])
    assert found["f1"] == found["precision"] == found["recall"] == found["f1_first_sense"] == pytest.approx(2 / 3)
    assert "f1_other_senses" not in found  # no such word


def test_nothing_predicted_is_no_fault():
    assert scoring.scores(scoring.counts([None], [["a"]], ["noun"], [False])[None])["f1"] == 0


def test_words_with_their_first_sense_are_scored_apart(sense_task):
    """Even rows have the first sense of film and odd rows the second, so the baseline is right on the even ones."""
    rows = sense_task.splits()["test"]
    first = [keys == [[key("film", "noun", 1)]] for keys in sense_task.gold(rows)]
    values = [[key("film", "noun", 1)]] * len(first)
    found = sense_task.scorer.scores(sense_task.scorer.example_stats(values, rows))
    assert (found["f1_first_sense"], found["f1_other_senses"]) == (1, 0) and found["f1"] == pytest.approx(
        np.mean(first)
    )
    assert 0 < sum(first) < len(first) and sense_task.scorer.count_words("test") == (
        sum(first),
        len(first) - sum(first),
    )
    assert f"and others: test {sum(first)} and {len(first) - sum(first)}." in sense_task.data.caveats
