"""What the report says about a cascade, and when it is used."""

import pytest

from niwaki.report.cascade import cascade

DOCUMENT = {
    "stages": ["small", "large"],
    "keep": 0.99,
    "level": 0.95,
    "missed": None,
    "test": {"score": 0.801, "kept": 0.9925},
    "speed": {"cascade": {"ratio": {"value": 2.5, "low": 2.2, "high": 2.9}}},
}


def test_cascade_that_pays_off_is_used():
    found = cascade(DOCUMENT)
    assert found["used"] and found["kept"] == 0.9925 and found["score"] == 0.801
    words = (
        "The cascade of small and large keeps 99.2 % of the test score of large and runs at 2.5× (2.2–2.9×) its speed"
    )
    assert found["sentence"].startswith(words) and "niwaki.load opens it" in found["sentence"]


@pytest.mark.parametrize("value", [1.0, 0.6])
def test_cascade_that_saves_no_time_is_not_used(value):
    found = cascade({**DOCUMENT, "speed": {"cascade": {"ratio": {"value": value}}}})
    assert not found["used"] and "saves no time" in found["sentence"]


def test_missed_share_is_reported():
    found = cascade({"stages": ["small", "large"], "missed": "80 rows do not show it"})
    assert not found["used"] and found["sentence"] == "There is no cascade: 80 rows do not show it."


@pytest.mark.parametrize(
    "junk", [{}, {"stages": [], "speed": 3}, {"stages": "x", "test": [], "speed": {"cascade": None}}]
)
def test_junk_is_never_used(junk):
    assert not cascade(junk)["used"]
