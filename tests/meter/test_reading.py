"""Readings as values: sums, tiers, digits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from niwaki.meter import Reading
from niwaki.meter.reading import significant

ESTIMATE = Reading(2.0, 1.0, 2.2831, 0.761, 6.849, 1.54, "estimated", "vcpu", 0.1, 0.2)
MEASURE = Reading(1.0, 0.5, 10.0, 8.5, 11.5, None, "measured", "RAPL package", 0.4, 0.1)


def test_a_sum_adds_amounts_and_takes_the_worst_tier() -> None:
    total = ESTIMATE + MEASURE
    assert total.joules == pytest.approx(12.2831) and total.joules_low == pytest.approx(9.261)
    assert total.joules_high == pytest.approx(18.349) and total.seconds == 3.0 and total.cpu_seconds == 1.5
    assert (total.tier, total.source) == ("estimated", "vcpu + RAPL package")
    assert total.marginal_joules is None  # of one it is not known
    assert total.co2e_grams == pytest.approx(0.5) and total.usd == pytest.approx(0.3)


def test_an_unknown_part_makes_the_sum_unknown() -> None:
    total = MEASURE + Reading(1.0, 1.0)
    assert total.joules is None and total.tier == "unknown" and total.seconds == 2.0


def test_nothing_is_neutral_and_sum_works() -> None:
    assert Reading.zero() + ESTIMATE == ESTIMATE == ESTIMATE + Reading.zero()
    assert sum([ESTIMATE, ESTIMATE, ESTIMATE]).joules == pytest.approx(3 * 2.2831)
    with pytest.raises(TypeError):
        ESTIMATE + 1


def test_details_of_a_sum_keep_warnings_and_list_constants_once() -> None:
    watts = {"name": "W", "value": 2.28, "unit": "W", "source": "CCF", "year": 2026}
    common = {"constants": [watts], "repeats": 1}
    calm = Reading(1, 1, 1, detail={**common, "overlaps": False, "host": {"load": 0.5, "steal": None}})
    busy = Reading(1, 1, 1, detail={**common, "overlaps": True, "host": {"load": 2.0, "steal": None}})
    detail = (calm + busy).detail
    assert detail["constants"] == [watts] and detail["repeats"] == 2 and detail["overlaps"] is True
    assert detail["host"] == {"load": 2.0, "steal": None}


def test_estimates_print_two_digits_and_their_range() -> None:
    assert str(ESTIMATE).startswith("2.3 J (0.76 to 6.8) estimated")
    assert str(MEASURE).startswith("10.0 J (8.50 to 11.5) measured")


@pytest.mark.parametrize(
    ("value", "text"),
    [(8412, "8400"), (0.01234, "0.012"), (9.96, "10"), (0.996, "1.0"), (1.0, "1.0"), (0, "0"), (2.5e9, "2.5e+09")],
)
def test_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


@given(st.floats(1e-12, 1e12), st.integers(1, 5))
def test_rounding_stays_within_half_a_digit(value: float, digits: int) -> None:
    assert abs(float(significant(value, digits)) - value) <= 0.5000001 * 10 ** (1 - digits) * value


amounts = st.floats(0.001, 1e6)


@given(amounts, amounts, amounts)
def test_addition_is_associative(one: float, two: float, three: float) -> None:
    a, b, c = (Reading(x, x, x, x / 3, x * 3, x / 2, "estimated", "vcpu") for x in (one, two, three))
    left, right = (a + b) + c, a + (b + c)
    assert left.joules == pytest.approx(right.joules) and left.joules_high == pytest.approx(right.joules_high)
