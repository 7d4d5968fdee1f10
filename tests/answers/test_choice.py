"""One of several endings: each pair a sequence, the highest score wins; worked by hand."""

import numpy as np
import pytest

import tiny
from niwaki.answers.choice import Choice, by_input

TOKENIZER = tiny.tokenizer()
INNER = tiny.tokenizer().backend_tokenizer
EVEN = [("the film", ["was good", "is bad"]), ("a plot", ["it", "the end of it"])]
UNEVEN = [("the film", ["was good", "is bad", "is"]), ("a plot", ["it", "the end"])]


def test_each_ending_goes_with_its_beginning():
    rows = Choice().encode(UNEVEN, INNER, 16)
    theirs = TOKENIZER(
        [start for start, endings in UNEVEN for _ in endings], [end for _, ends in UNEVEN for end in ends]
    )
    assert [rows.ids[row].tolist() for row in range(5)] == theirs["input_ids"]
    assert [rows.types[row].tolist() for row in range(5)] == theirs["token_type_ids"]
    assert rows.input_index.tolist() == [0, 0, 0, 1, 1]


def test_rows_with_as_many_endings_are_trained_on_together():
    assert Choice().encode(EVEN, INNER, 16).group == 2
    assert Choice().encode(UNEVEN, INNER, 16).group == 1  # to be answered only


def test_the_highest_score_of_each_input():
    rows = Choice().encode(UNEVEN, INNER, 16)
    logits = np.log(np.array([[1], [3], [4], [3], [1]], dtype=np.float32))
    assert [scores.tolist() for scores in by_input(np.exp(logits).round(), rows)] == [[1, 3, 4], [3, 1]]
    assert Choice().values(logits, rows, UNEVEN, ["score"]) == [2, 0]
    first, second = Choice().answers(logits, rows, UNEVEN, ["score"])
    assert (first.choice, first.ending) == (2, "is") and first.probabilities == pytest.approx([0.125, 0.375, 0.5])
    assert (second.choice, second.ending) == (0, "it") and second.probability == pytest.approx(0.75)
    assert second.line() == "0: it (75.0%)"


def test_what_does_not_fit_is_cut_from_the_longer_side():
    rows = Choice().encode([("film " * 30, ["good end", "bad"])], INNER, 12)
    assert rows.ids.lengths.tolist() == [12, 12]
    assert INNER.decode(rows.ids[0].tolist()).split()[-2:] == ["good", "end"]


def test_how_sure_by_hand():
    rows = Choice().encode(UNEVEN, INNER, 16)
    logits = np.log(np.array([[1], [3], [4], [3], [1]], dtype=np.float32))
    np.testing.assert_allclose(Choice().confidence(logits, rows, UNEVEN, []), [0.5, 0.75], rtol=1e-6)
    assert np.exp(Choice().candidate_logits(logits, rows)).round().tolist() == [[1, 3, 4], [3, 1, 0]]
    assert Choice().confidence(logits[:0], Choice().encode([], INNER, 16), [], []).tolist() == []
