"""Ratios of two jobs with intervals."""

import math
import random
from collections.abc import Callable
from statistics import fmean

import pytest

from meter.simulated import Machine, noisy
from meter.work import busy_neighbour
from niwaki.core.errors import UsageError
from niwaki.meter.compare import (
    LEVEL,
    SYSTEMATIC,
    Interval,
    difference,
    interleave,
    interval,
    ratio,
    student_quantile,
    trimmed_mean,
)


def test_one_outlier_does_not_change_the_ratio() -> None:
    assert difference([2.0] * 11 + [900.0], [1.0] * 12).value == pytest.approx(1)
    assert trimmed_mean([1, 2, 3, 4, 1000]) == 3


def test_interval_matches_values_computed_by_hand() -> None:
    # ten values, two cut off at either end: 3 to 8 stay; winsorised 3 3 3 4 5 6 7 8 8 8 with variance 42.5 / 9
    found = interval([5, 3, 8, 1, 7, 2, 900, 4, 6, 9])
    doubt = 3.3649 * (42.5 / 9) ** 0.5 / (0.6 * 10**0.5)  # t of a printed table: 98 %, 5 degrees of freedom
    assert found.value == 5.5
    assert (found.low, found.high) == (pytest.approx(5.5 - doubt, rel=1e-4), pytest.approx(5.5 + doubt, rel=1e-4))


def test_swapping_the_jobs_inverts_the_ratio() -> None:
    before, after = noisy(2.0, 12, 3, 0.3), noisy(1.0, 12, 4, 0.3)
    there, back = ratio(before, after), ratio(after, before)
    assert back.value == pytest.approx(1 / there.value)
    assert back.low == pytest.approx(1 / there.high, rel=1e-4) and back.high == pytest.approx(1 / there.low, rel=1e-4)


def test_equal_samples_leave_only_the_systematic_error() -> None:
    found = ratio([4.0] * 8, [2.0] * 8)
    assert (found.low, found.high) == (pytest.approx(2 * (1 - SYSTEMATIC)), pytest.approx(2 * (1 + SYSTEMATIC)))
    saved = difference([4.0] * 8, [2.0] * 8)
    assert (saved.low, saved.high) == (pytest.approx(2 - 4 * SYSTEMATIC), pytest.approx(2 + 4 * SYSTEMATIC))


def hit(draw: random.Random) -> float:
    """As samples were seen to be: steady, and now and then a good deal longer."""
    return draw.lognormvariate(0, 0.004) + (draw.expovariate(10) if draw.random() < 0.3 else 0.0)


@pytest.mark.parametrize("pairs", [6, 8, 12, 20])
@pytest.mark.parametrize("noise", [hit, lambda draw: draw.lognormvariate(0, 0.1)], ids=["hits", "even"])
def test_interval_has_its_nominal_coverage(pairs: int, noise: Callable[[random.Random], float]) -> None:
    draw, held = random.Random(pairs), 0
    for _ in range(500):
        found = ratio([2 * noise(draw) for _ in range(pairs)], [noise(draw) for _ in range(pairs)])
        held += found.low <= 2 <= found.high
    assert held >= 500 * (LEVEL - 0.015)  # 0.006 is one standard deviation of 500 such trials


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [([1.0] * 8, [1.0] * 7, "in pairs"), ([1.0] * 5, [1.0] * 5, "too few"), ([1.0] * 8, [0.0] * 8, "0 or less")],
)
def test_incomparable_samples_are_rejected(before: list[float], after: list[float], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ratio(before, after)


def test_quantiles_of_students_t_match_published_ones() -> None:
    # a printed table, 1 % at either end
    table = {1: 31.821, 2: 6.965, 3: 4.541, 5: 3.365, 9: 2.821, 11: 2.718, 30: 2.457, 120: 2.358}
    assert LEVEL == 0.98
    assert {freedom: round(student_quantile(freedom), 3) for freedom in table} == table


def test_one_value_has_no_interval() -> None:
    with pytest.raises(UsageError, match="two values or more"):
        interval([1.0])


def test_jobs_alternate_and_swap_order_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No job twice in a row but at the turn: a disturbance longer than a sample falls on both."""
    taken: list[tuple[str, int]] = []
    cost = {"long": 0.1, "short": 0.02}

    def sample(job: Callable[[], str], calls: int) -> float:
        taken.append((job(), calls))
        return cost[job()]

    monkeypatch.setattr("niwaki.meter.compare.sample", sample)
    interleave(lambda: "long", lambda: "short", 6)
    order = [name for name, _ in taken[4:]]
    assert order == ["long", "short"] * 3 + ["short", "long"] * 3
    assert set(taken[4:]) == {("long", 1), ("short", 5)}  # samples of the same length, and of 50 ms at least


UNSTEADY = {"noise": 0.05}
DRIFTING = {"drift": 0.1, "free": 1.0}
SHARED = {"noise": 0.003, "busy": 0.6, "free": 0.6}
TRIALS = 400


def simulated(monkeypatch: pytest.MonkeyPatch, pairs: int, nature: dict[str, float]) -> list[Interval]:
    """The ratio of 50 to 25 ms of work, found on many machines that differ by chance alone."""
    found = []
    for seed in range(TRIALS):
        machine = Machine(seed, **nature)
        monkeypatch.setattr("niwaki.meter.compare.meter", lambda machine=machine: machine)
        samples = interleave(lambda: machine.work(0.05), lambda: machine.work(0.025), pairs)  # noqa: B023 called here
        found.append(ratio(*samples))
    return found


@pytest.mark.parametrize("pairs", [8, 20])
@pytest.mark.parametrize("nature", [UNSTEADY, DRIFTING, SHARED], ids=["unsteady", "drifting", "shared"])
def test_ratio_of_two_is_found_on_a_loaded_machine(
    monkeypatch: pytest.MonkeyPatch, pairs: int, nature: dict[str, float]
) -> None:
    held = sum(found.low <= 2 <= found.high for found in simulated(monkeypatch, pairs, nature))
    assert held >= TRIALS * (LEVEL - 0.015)


def test_steady_load_of_others_hardly_widens_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """He falls on both jobs alike. With the places changed at every pair the mean width is .04, in blocks .4."""
    width = fmean(math.log(found.high / found.low) for found in simulated(monkeypatch, 20, SHARED))
    assert width < 0.03


def once() -> int:
    return sum(i * i for i in range(250_000))


def twice() -> int:
    return once() + once()


@pytest.mark.slow
def test_interval_of_real_work_contains_the_ratio_of_two() -> None:
    """On this machine and in its time: the chance of less than 18 at the stated 95 % is 1 in 13, at the nominal 98 % 1 in 140."""
    held = 0
    with busy_neighbour(300):
        for _ in range(20):
            found = ratio(*interleave(twice, once, 20))
            held += found.low <= 2 <= found.high
    assert held >= 18
