"""Values read from a run are cleaned."""

import math

import pytest

from niwaki.core.errors import InputError
from niwaki.report.run_files import MAX_DEPTH, checked, clean, number


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, 1e-300])
def test_unusable_numbers_become_null(value):
    assert clean({"a": [value, 1.5, 0]}) == {"a": [None, 1.5, 0]}


def test_control_and_direction_characters_are_replaced():
    assert clean({"a\u202e": "b\x1b[31m\ud800 ü\n"}) == {"a\ufffd": "b\ufffd[31m\ufffd ü\n"}


def test_deep_values_become_null():
    value: object = "x"
    for _ in range(MAX_DEPTH + 2):
        value = [value]
    found = clean(value)
    for _ in range(MAX_DEPTH):
        found = found[0]
    assert found == [None]


def test_booleans_and_text_are_not_numbers():
    assert [number(value) for value in (True, "3", None, 3, 0.5)] == [None, None, None, 3, 0.5]


@pytest.mark.parametrize(("value", "message"), [([], "must hold a JSON object"), ({"version": 2}, "is of version 2")])
def test_other_documents_are_rejected(tmp_path, value, message):
    with pytest.raises(InputError, match=message):
        checked(tmp_path / "speed.json", value)
    assert checked(tmp_path / "speed.json", {"version": 1, "x": math.nan}) == {"version": 1, "x": None}
