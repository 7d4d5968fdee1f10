"""Any number of labels: each by its own sigmoid, against scipy's."""

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as some

import tiny
from niwaki.answers.labels import Labels, sigmoid
from niwaki.core.errors import InputError
from niwaki.core.settings import check

ROWS = Labels().encode(["a", "b"], tiny.tokenizer().backend_tokenizer, 8)
LOGITS = np.array([[np.log(3), -1.0, 0.0], [-2.0, -3.0, -0.1]], dtype=np.float32)


def test_labels_from_the_threshold_on_by_hand():
    names = ["x", "y", "z"]
    assert Labels().values(LOGITS, ROWS, ["a", "b"], names) == [["x", "z"], []]
    assert Labels(threshold=0.7).values(LOGITS, ROWS, ["a", "b"], names) == [["x"], []]  # 0.75 is
    assert Labels(threshold=0.1).values(LOGITS, ROWS, ["a", "b"], names) == [["x", "y", "z"], ["x", "z"]]
    first, second = Labels().answers(LOGITS, ROWS, ["a", "b"], names)
    assert first.labels == ["x", "z"] and first.probabilities["x"] == pytest.approx(0.75)
    assert first.line() == "x (75.0%), z (50.0%)" and second.line() == "none"


@given(some.lists(some.floats(-(2.0**120), 2.0**120, width=32), min_size=1, max_size=9))
def test_sigmoid_is_scipys_and_never_overflows(values):
    logits = np.array([values], dtype=np.float32)
    with np.errstate(over="raise"):
        np.testing.assert_allclose(sigmoid(logits), scipy.special.expit(logits.astype(np.float64)), atol=1e-12)


@pytest.mark.parametrize("threshold", [0, 1, -0.5, float("nan")])
def test_a_threshold_that_is_no_probability_is_rejected(threshold):
    with pytest.raises(InputError, match="threshold"):
        check(Labels, {"threshold": threshold})


def test_how_sure_is_the_least_sure_label_on_or_off():
    off = 1 / (1 + np.exp(-0.1))  # of -0.1: 0.475 that it is on
    np.testing.assert_allclose(Labels().confidence(LOGITS, ROWS, ["a", "b"], []), [0.5, off], rtol=1e-6)
    low = [1 / (1 + np.exp(1.0)), 1 / (1 + np.exp(2.0))]  # on from 0.1: hardly more than a guess that they are
    np.testing.assert_allclose(Labels(threshold=0.1).confidence(LOGITS, ROWS, ["a", "b"], []), low, rtol=1e-6)
