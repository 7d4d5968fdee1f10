"""Rejected input as scikit-learn expects it."""

import pytest

from niwaki.core.errors import InputError, UsageError
from niwaki.estimators._errors import EstimatorInputError, value_errors


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("data: has no rows", "X: has no rows"),
        ("texts.3: is empty", "X.3: is empty"),
        ("database: is missing", "database: is missing"),
        ("no colon or dot", "no colon or dot"),
    ],
)
def test_first_words_are_renamed(fault, message):
    with pytest.raises(ValueError) as caught, value_errors(data="X", texts="X"):
        raise InputError(fault)
    assert str(caught.value) == message


def test_the_error_is_a_value_error_with_every_fault():
    with pytest.raises(EstimatorInputError) as caught, value_errors(label="y"):
        raise InputError(["label: one", "other: two"])
    assert caught.value.faults == ["y: one", "other: two"]
    assert isinstance(caught.value, InputError) and caught.value.exit_code == 3


def test_wrong_calls_are_value_errors_too():
    with pytest.raises(EstimatorInputError, match=r"^X: is wrong$"), value_errors(texts="X"):
        raise UsageError("texts: is wrong")


def test_other_errors_pass():
    with pytest.raises(KeyError), value_errors(data="X"):
        raise KeyError("data")
