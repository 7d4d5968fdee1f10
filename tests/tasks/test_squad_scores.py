"""Every rule of SQuAD's scores by hand; the threshold against trying all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as some

from niwaki.tasks._squad_scores import best_threshold, exact, normalised, overlap


@pytest.mark.parametrize(
    "text, left",
    [
        ("The  Cat,\tthe hat\n", "cat hat"),
        ("A man, a plan, an axe", "man plan axe"),
        ("another theatre and Anna", "another theatre and anna"),  # articles are whole words
        ("vitamin-A", "vitamina"),  # punctuation goes first and leaves no space: no article is left to remove
        ("U.S.A.", "usa"),
        ("T.h.e end", "end"),  # for the same reason an article may appear
        ("snake_case $5.00 50%", "snakecase 500 50"),
        ("1990–2000", "1990–2000"),  # the rules know ASCII punctuation only: dash, quotes, dots stay
        ("“quoted”", "“quoted”"),
        ("wait…", "wait…"),
        ("“the” end", "“ ” end"),  # a word between them is still a word
        ("a–b", "–b"),
        ("non\u00a0breaking\u2003space", "non breaking space"),
        ("ÉCOLE Straße", "école straße"),  # lower case, not case folding
        ("the", ""),
        ("?!", ""),
        ("", ""),
    ],
)
def test_normalised(text, left):
    assert normalised(text) == left


@pytest.mark.parametrize(
    "prediction, golds, score",
    [
        ("Denver Broncos", ["Denver Broncos"], 1),
        ("the denver broncos!", ["Denver Broncos"], 1),
        ("Broncos Denver", ["Denver Broncos"], 0),
        ("Denver", ["Denver Broncos"], 0),
        ("Broncos", ["Denver Broncos", "Carolina", "The Broncos"], 1),
        ("“Broncos”", ["Broncos"], 0),
        # no answer: predicted or not, right or not
        ("", [], 1),
        ("", [""], 1),
        ("Denver", [], 0),
        ("Denver", [""], 0),
        ("", ["Denver"], 0),
        ("Denver", ["Denver"], 1),
        # normalised to nothing
        ("the", [], 1),
        ("", ["the"], 1),
        ("", ["the", "Denver"], 0),  # a gold answer that says nothing does not count next to one that does
    ],
)
def test_exact(prediction, golds, score):
    assert exact(prediction, golds) == score and type(exact(prediction, golds)) is float


@pytest.mark.parametrize(
    "prediction, golds, score",
    [
        ("Denver Broncos", ["Denver Broncos"], 1),
        ("Broncos, Denver", ["the Denver Broncos"], 1),  # a bag has no order
        ("Denver", ["Denver Broncos"], 2 / 3),  # all of 1 and half of 2
        ("red red blue", ["red blue blue"], 2 / 3),  # red once, blue once
        ("red red red", ["red"], 1 / 2),  # words count as often as they stand on both sides
        ("green", ["red blue"], 0),
        ("Denver", ["Carolina", "Denver Broncos", "Denver Broncos of Colorado"], 2 / 3),
        # no answer: predicted or not, right or not
        ("", [], 1),
        ("", [""], 1),
        ("Denver", [], 0),
        ("Denver", [""], 0),
        ("", ["Denver"], 0),
        # normalised to nothing
        ("a", [], 1),
        ("", ["?"], 1),
        ("", ["?", "Denver"], 0),
        ("the", ["Denver"], 0),
    ],
)
def test_overlap(prediction, golds, score):
    assert overlap(prediction, golds) == pytest.approx(score) and type(overlap(prediction, golds)) is float


words = some.lists(some.sampled_from(["red", "Blue", "the", "a", "x-y", "–"]), max_size=5).map(" ".join)


@given(words, some.lists(words, max_size=3))
def test_overlap_holds_exact(prediction, golds):
    assert 0 <= exact(prediction, golds) <= overlap(prediction, golds) <= 1
    assert exact(prediction, [*golds, prediction]) == float(
        bool(normalised(prediction)) or not any(map(normalised, golds))
    )


# the threshold

rows = some.lists(
    some.tuples(some.sampled_from([0.0, 0.25, 0.5, 1.0]), some.sampled_from([0.0, 1.0]), some.integers(-4, 4)),
    min_size=1,
    max_size=12,
)


def score_at(threshold, if_answer, if_none, no_answer):
    return np.mean([a if s <= threshold else n for a, n, s in zip(if_answer, if_none, no_answer, strict=True)])


@examples(max_examples=300)
@given(rows, some.sampled_from([np.float32, np.float64]))
def test_no_threshold_is_better(drawn, kind):
    if_answer, if_none, no_answer = (np.array(column, dtype=kind) for column in zip(*drawn, strict=True))
    no_answer /= 7  # not exact in either precision
    threshold, score = best_threshold(if_answer, if_none, no_answer)
    every = {at: score_at(at, if_answer, if_none, no_answer) for at in [-100.0, *no_answer.tolist()]}
    assert score == pytest.approx(max(every.values()), abs=1e-9)
    answered = no_answer <= threshold  # as a user would, in the array's own precision
    assert np.where(answered, if_answer, if_none).mean() == pytest.approx(score, abs=1e-6)
    lowest = min(at for at, value in every.items() if value == max(every.values()))
    assert threshold == lowest if lowest > -100 else threshold < no_answer.min()


def test_threshold_by_hand():
    if_answer, if_none = np.array([1.0, 0.0, 0.5, 0.0]), np.array([0.0, 1.0, 0.0, 1.0])
    # sorted by no-answer score: right, half right, then two that have no answer
    assert best_threshold(if_answer, if_none, np.array([-3.0, 2.0, 0.5, 4.0])) == (0.5, 3.5 / 4)
    # the half right one lies among those without an answer: it is not worth the -1
    assert best_threshold(if_answer, if_none, np.array([-3.0, 0.5, 2.0, 4.0])) == (-3.0, 3 / 4)


def test_equal_no_answer_scores_are_not_parted():
    if_answer, if_none = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 1.0])
    threshold, score = best_threshold(if_answer, if_none, np.array([2.0, 2.0, 2.0]))
    assert threshold < 2.0 and np.isfinite(threshold) and score == 2 / 3  # 3/3 cannot be had


def test_no_questions():
    assert best_threshold(np.zeros(0), np.zeros(0), np.zeros(0)) == (0.0, 0.0)
