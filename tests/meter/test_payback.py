"""Ratios, savings and payback: an interval, or an honest refusal."""

import pytest

from meter.simulated import noisy
from niwaki.core.errors import UsageError
from niwaki.meter import Reading
from niwaki.meter.compare import (
    SYSTEMATIC,
)
from niwaki.meter.payback import NOT_SHOWN, payback

SPENT = Reading(
    200.0,
    100.0,
    228.0,
    76.0,
    684.0,
    154.0,
    "estimated",
    "vcpu",
    1.0,
    1.0,
    {"grid": {"place": "FRA", "grams_per_kwh": 56.0, "pue": 1.2}, "price": {"usd_per_vcpu_hour": 0.05}},
)


def test_payback_by_hand() -> None:
    found = payback(SPENT, [4.0] * 8, [1.5] * 8, per_day=1000)
    assert found.shown and found.inferences is not None and found.days is not None
    assert found.inferences.value == pytest.approx(1000 * 100 / 2.5)  # 40,000
    doubt = 4.0 * SYSTEMATIC  # of the larger of the two: samples that agree to the last digit are not the truth
    assert found.inferences.low == pytest.approx(1000 * 100 / (2.5 + doubt))
    assert found.inferences.high == pytest.approx(1000 * 100 / (2.5 - doubt))
    assert found.days.value == pytest.approx(40) and found.ratio.value == pytest.approx(4 / 1.5)
    assert found.words.startswith(
        "pays back after 40,000 (40,000 to 40,000) inferences, 40 (40 to 40) days; a year then saves 0.00058 (0.00019 to"
    )


def test_a_years_saving_by_hand() -> None:
    found = payback(SPENT, [4.0] * 8, [1.5] * 8, per_day=2e6)
    seconds = 2.5 * 2e6 * 365 / 1000  # CPU seconds a year
    assert found.kwh_a_year.value == pytest.approx(seconds * 2.28 / 3.6e6)
    doubt = 4.0 * SYSTEMATIC / 2.5
    assert found.kwh_a_year.high == pytest.approx(3 * found.kwh_a_year.value * (1 + doubt))  # the watts' band is in it
    assert found.kg_a_year.value == pytest.approx(found.kwh_a_year.value * 56 * 1.2 / 1000)
    assert found.usd_a_year.value == pytest.approx(seconds / 3600 * 0.05)
    assert found.to_dict()["days"]["value"] > 0


def test_watts_cancel_on_one_host() -> None:
    cpu = payback(SPENT, [4.0] * 8, [1.5] * 8)
    joules = payback(SPENT, [4.0 * 2.28] * 8, [1.5 * 2.28] * 8, unit="joules")
    assert joules.inferences.value == pytest.approx(cpu.inferences.value)


def test_without_place_or_price_there_is_no_kilogram_and_no_dollar() -> None:
    bare = Reading(200.0, 100.0, 228.0, 76.0, 684.0, 154.0, "estimated", "vcpu")
    found = payback(bare, [4.0] * 8, [1.5] * 8, per_day=1000)
    assert found.kwh_a_year is not None and found.kg_a_year is None and found.usd_a_year is None


def test_unknown_joules_leave_payback_in_cpu_seconds_but_no_kilowatt_hours() -> None:
    found = payback(Reading(200.0, 100.0), [4.0] * 8, [1.5] * 8, per_day=1000)
    assert found.shown and found.kwh_a_year is None
    assert not payback(Reading(200.0, 100.0), [4.0] * 8, [1.5] * 8, unit="joules").shown


def test_cpu_seconds_do_not_measure_a_gpu() -> None:
    spent = Reading(200.0, 100.0, 9000.0, 8000.0, 9900.0, None, "estimated", "NVML + CPU seconds")
    assert "used a GPU" in payback(spent, [4.0] * 8, [1.5] * 8).words
    assert payback(spent, [4.0] * 8, [1.5] * 8, unit="joules").shown


def test_unknown_charges_make_it_at_least() -> None:
    spent = Reading(200.0, 100.0, 228.0, 76.0, 684.0, detail={"unknown_charges": 1})
    assert "after at least 40,000" in payback(spent, [4.0] * 8, [1.5] * 8).words
    assert str(spent).startswith("at least 230 J")


def test_no_payback_is_shown_when_the_saving_may_be_nothing() -> None:
    rejected = 0
    for seed in range(20):
        same = payback(SPENT, noisy(2.0, 12, seed), noisy(2.0, 12, seed + 1000), per_day=1e6)
        assert same.shown or (same.words.startswith(NOT_SHOWN) and same.inferences is None and same.kwh_a_year is None)
        rejected += not same.shown
    assert rejected >= 18


def test_no_payback_is_shown_when_it_became_worse() -> None:
    found = payback(SPENT, noisy(1.0, 12, 1), noisy(2.0, 12, 2))
    assert not found.shown and "does not spend less" in found.words


def test_a_true_saving_under_noise_is_shown_and_its_interval_holds() -> None:
    held = 0
    for seed in range(20):
        found = payback(SPENT, noisy(4.0, 15, seed, 0.2), noisy(2.0, 15, seed + 1000, 0.2))
        assert found.shown and found.inferences is not None
        held += found.inferences.low <= 1000 * 100 / 2.0 <= found.inferences.high
    assert held >= 17


def test_a_saving_smaller_than_the_systematic_error_is_not_shown() -> None:
    assert not payback(SPENT, [4.0] * 8, [4.0 * (1 - SYSTEMATIC / 2)] * 8).shown
    assert payback(SPENT, [4.0] * 8, [4.0 * (1 - SYSTEMATIC * 2)] * 8).shown


def test_an_unknown_unit_is_rejected() -> None:
    with pytest.raises(UsageError, match="cpu_seconds or joules"):
        payback(SPENT, [1.0] * 8, [0.5] * 8, unit="watts")
    with pytest.raises(UsageError, match="per_day"):
        payback(SPENT, [1.0] * 8, [0.5] * 8, per_day=0)
