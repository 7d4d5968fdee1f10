"""One label of several: worked by hand."""

import numpy as np
import pytest

import tiny
from niwaki.answers.label import Label

ROWS = Label().encode(["a", "b"], tiny.tokenizer().backend_tokenizer, 8)
LOGITS = np.log(np.array([[1, 2, 1], [6, 1, 1]], dtype=np.float32))


def test_the_highest_logit_is_the_label_and_its_share_the_probability():
    names = ["no", "maybe", "yes"]
    assert Label().values(LOGITS, ROWS, ["a", "b"], names) == ["maybe", "no"]
    first, second = Label().answers(LOGITS, ROWS, ["a", "b"], names)
    assert first.label == "maybe" and first.probability == pytest.approx(0.5)
    assert second.probabilities == pytest.approx({"no": 0.75, "maybe": 0.125, "yes": 0.125})
    assert str(second) == "no (75.0%)" and second.line() == "no\t0.7500"


def test_of_equals_the_first():
    assert Label().values(np.zeros((1, 2)), ROWS, ["a"], ["x", "y"]) == ["x"]


def test_names_and_logits_must_be_as_many():
    with pytest.raises(ValueError, match="zip"):
        Label().answers(LOGITS, ROWS, ["a", "b"], ["no", "yes"])


def test_how_sure_is_the_largest_probability():
    np.testing.assert_allclose(Label().confidence(LOGITS, ROWS, ["a", "b"], []), [0.5, 0.75], rtol=1e-6)
    assert Label().confidence(np.zeros((0, 3)), ROWS, [], []).tolist() == []
