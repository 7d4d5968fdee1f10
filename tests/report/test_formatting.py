"""Formatted numbers."""

import pytest

from niwaki.report import formatting


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(1234, 2, "1,200"), (0.01234, 2, "0.012"), (9.96, 2, "10"), (0.996, 2, "1.0"), (0, 2, "0"), (14.56, 3, "14.6")],
)
def test_significant(value: float, digits: int, text: str) -> None:
    assert formatting.significant(value, digits) == text


def test_an_estimate_has_two_digits_and_its_range() -> None:
    used = {"joules": 12_345.0, "joules_low": 8_000.0, "joules_high": 17_400.0, "tier": "estimated"}
    assert formatting.energy(used) == "12 kJ"
    assert formatting.energy({**used, "tier": "measured"}) == "12.3 kJ"
    assert formatting.energy({**used, "unknown": 2}) == "at least 12 kJ"
    assert formatting.energy_range(used) == "8.0–17 kJ"


def test_unknown_is_never_zero() -> None:
    nothing = {
        "joules": None,
        "joules_low": None,
        "joules_high": None,
        "tier": "unknown",
        "co2e_grams": None,
        "usd": None,
    }
    assert formatting.energy(nothing) == "unknown" and formatting.energy_range(nothing) == ""
    assert (formatting.carbon(nothing), formatting.money(nothing)) == ("no location set", "no price set")
    writers = (
        formatting.megabytes,
        formatting.rate,
        formatting.milliseconds,
        formatting.duration,
        formatting.ratio,
        formatting.share,
    )
    assert {write(None) for write in writers} == {"unknown"}


def test_scores_ratios_and_sizes() -> None:
    assert formatting.score("accuracy", 0.8346) == "83.5 %"
    assert formatting.score("matthews", 0.5) == "0.500"
    assert formatting.interval("accuracy", 0.807, 0.853) == "80.7–85.3 %"
    assert [formatting.ratio(value) for value in (7.32, 13.04, 250.0, 0.5)] == ["7.3×", "13.0×", "250×", "0.50×"]
    assert formatting.ratio(13.8, digits=2) == "14×"
    assert formatting.times(0.5, "smaller", "larger") == "2.0× larger"
    assert formatting.times(1.01, "smaller", "larger") == ""
    assert formatting.megabytes(90_868_376) == "90.9 MB"
    assert formatting.scaled(22_713_216, "") == "22.7 M"
    assert [formatting.duration(value) for value in (0.6, 71, 305, 4000)] == ["0.60 s", "71 s", "5.1 min", "1 h 7 min"]


def test_a_score_over_seeds_has_its_spread() -> None:
    row = {"score": 0.82, "seeds": {"seeds": [0, 1, 2], "values": [0.817, 0.82, 0.823], "mean": 0.82, "sd": 0.003}}
    assert formatting.scored("accuracy", row) == "82.0 % ± 0.3 (3 seeds)"
    assert formatting.scored("matthews", row) == "0.820 ± 0.003 (3 seeds)"
    alone = {"seeds": [0], "values": [0.82], "mean": 0.82, "sd": None}
    assert {formatting.scored("f1", {"score": 0.82, **more}) for more in ({}, {"seeds": alone}, {"seeds": None})} == {
        "82.0 %"
    }


def test_differences_of_shares_are_points_and_others_plain_numbers() -> None:
    assert formatting.difference("accuracy", -0.004, -0.012, 0.003) == "−0.4 points (−1.2 to +0.3)"
    assert formatting.difference("accuracy", 0.021, 0.010, 0.032, sign="-") == "2.1 points (1.0 to 3.2)"
    assert formatting.difference("pearson", -0.012) == "−0.012"
    assert formatting.difference("accuracy", 0.01, 0.0002, 0.02) == "+1.0 points (+0.02 to +2.0)", "not from +0.0"
    assert formatting.difference("accuracy", 0.0) == formatting.difference("accuracy", -0.0) == "+0.0 points"


@pytest.mark.parametrize(
    "metric", ["accuracy", "f1", "f1_macro", "f1_micro", "f1_entities", "exact", "overlap", "mean", "bleu", "chrf"]
)
def test_shares_are_formatted_in_per_cent(metric: str) -> None:
    assert formatting.score(metric, 0.5) == "50.0 %"


@pytest.mark.parametrize("metric", ["matthews", "pearson", "spearman", None])
def test_what_may_be_negative_is_a_number_with_a_minus_sign(metric: str | None) -> None:
    assert formatting.score(metric, -0.0123) == "−0.012"
    assert formatting.interval(metric, -0.1, 0.2) == "−0.100 to 0.200"
    assert formatting.interval(metric, 0.1, 0.2) == "0.100–0.200"
