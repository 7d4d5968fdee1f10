"""A number in standard units, worked by hand."""

import numpy as np
import pytest

import tiny
from niwaki.answers.number import Number
from niwaki.core.errors import InputError
from niwaki.core.settings import check

ROWS = Number().encode(["a", "b"], tiny.tokenizer().backend_tokenizer, 8)


def test_logits_are_steps_of_the_scale_from_the_mean():
    logits = np.array([[0.5], [-2.0]], dtype=np.float32)
    assert Number(mean=3.0, scale=2.0).values(logits, ROWS, ["a", "b"], ["value"]) == [4.0, -1.0]
    assert Number().values(logits, ROWS, ["a", "b"], ["value"]) == [0.5, -2.0]
    first, _ = Number(mean=1e9, scale=1.0).answers(logits, ROWS, ["a", "b"], ["value"])
    assert first.value == 1e9 + 0.5  # float32 would have lost the half
    assert Number().answers(logits, ROWS, ["a", "b"], ["value"])[1].line() == "-2"


@pytest.mark.parametrize("field, value", [("scale", 0), ("scale", -1), ("scale", float("inf")), ("mean", float("nan"))])
def test_units_that_are_none_are_rejected(field, value):
    with pytest.raises(InputError, match=field):
        check(Number, {field: value})


def test_numbers_are_the_same_within_a_tenth_of_their_scale():
    kind = Number(mean=30.0, scale=20.0)
    assert kind.same(10.0, 11.9) and kind.same(11.9, 10.0) and not kind.same(10.0, 12.1)
    assert not kind.same(10.0, float("nan"))
