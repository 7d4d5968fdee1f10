"""How numbers are written."""

import pytest

from niwaki.report import figures


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(1234, 2, "1,200"), (0.01234, 2, "0.012"), (9.96, 2, "10"), (0.996, 2, "1.0"), (0, 2, "0"), (14.56, 3, "14.6")],
)
def test_significant(value: float, digits: int, text: str) -> None:
    assert figures.significant(value, digits) == text


def test_an_estimate_has_two_digits_and_its_range() -> None:
    used = {"joules": 12_345.0, "joules_low": 8_000.0, "joules_high": 17_400.0, "tier": "estimated"}
    assert figures.energy(used) == "12 kJ"
    assert figures.energy({**used, "tier": "measured"}) == "12.3 kJ"
    assert figures.energy({**used, "unknown": 2}) == "at least 12 kJ"
    assert figures.energy_range(used) == "8.0–17 kJ"


def test_unknown_is_never_zero() -> None:
    nothing = {
        "joules": None,
        "joules_low": None,
        "joules_high": None,
        "tier": "unknown",
        "co2e_grams": None,
        "usd": None,
    }
    assert figures.energy(nothing) == "unknown" and figures.energy_range(nothing) == ""
    assert (figures.carbon(nothing), figures.money(nothing)) == ("needs a place", "needs a price")
    writers = (figures.megabytes, figures.rate, figures.milliseconds, figures.duration, figures.ratio, figures.share)
    assert {write(None) for write in writers} == {"unknown"}


def test_scores_ratios_and_sizes() -> None:
    assert figures.score("accuracy", 0.8346) == "83.5 %"
    assert figures.score("matthews", 0.5) == "0.500"
    assert figures.interval("accuracy", 0.807, 0.853) == "80.7–85.3 %"
    assert [figures.ratio(value) for value in (7.32, 13.04, 250.0, 0.5)] == ["7.3×", "13.0×", "250×", "0.50×"]
    assert figures.ratio(13.8, digits=2) == "14×"
    assert figures.times(0.5, "smaller", "larger") == "2.0× larger"
    assert figures.times(1.01, "smaller", "larger") == ""
    assert figures.megabytes(90_868_376) == "90.9 MB"
    assert figures.scaled(22_713_216, "") == "22.7 M"
    assert [figures.duration(value) for value in (0.6, 71, 305, 4000)] == ["0.60 s", "71 s", "5.1 min", "1 h 7 min"]
