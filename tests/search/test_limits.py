"""Which limits are missed and by how much, and which model is better."""

import pytest

from niwaki.run.search_settings import SearchSettings
from niwaki.search.limits import Figures, best, cost, loss, missed_lines, shortfalls

SOURCE = Figures(1.0, 80e6, 8.0, 10.0, 200.0, 50.0)
LIMITS = SearchSettings(max_mb=10, max_p99_ms=2, max_joules_per_1000=20, min_throughput=500, keep=0.9)


def figures(kept=0.95, size=8e6, latency=1.0, p99=1.5, throughput=800.0, joules=10.0) -> Figures:
    return Figures(kept, size, latency, p99, throughput, joules)


def test_each_limit_is_missed_relative_to_itself():
    assert shortfalls(figures(), LIMITS) == {}
    found = shortfalls(figures(0.45, 15e6, 1.0, 3.0, 250.0, 25.0), LIMITS)
    expected = {"max_mb": 0.5, "max_p99_ms": 0.5, "max_joules_per_1000": 0.25, "min_throughput": 0.5, "keep": 0.5}
    assert found == pytest.approx(expected)


def test_limits_are_met_exactly_and_unknown_figures_miss_none():
    assert shortfalls(figures(0.9, 10e6, 1.0, 2.0, 500.0, 20.0), LIMITS) == {}
    assert shortfalls(Figures(0.95, 8e6), LIMITS) == {}


def test_any_model_within_the_limits_is_better_than_any_other():
    within = figures(0.9, 10e6)
    assert loss(within, SOURCE, LIMITS) < 1 < loss(figures(size=10.1e6, kept=2.0), SOURCE, LIMITS)
    # the sum of the violations, 0.5 + 0.5, plus 1
    assert loss(figures(0.45, 15e6), SOURCE, LIMITS) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("objective", "expected"), [("bytes", 0.1), ("latency", 0.125), ("joules", 0.2), ("score", 1 / 0.95)]
)
def test_the_objective_is_relative_to_the_source(objective, expected):
    assert cost(figures(), SOURCE, objective) == pytest.approx(expected)


def test_an_unknown_objective_is_the_worst_within_the_limits():
    assert loss(Figures(0.95, 8e6), SOURCE, LIMITS.model_copy(update={"objective": "latency"})) == 1.0


def test_the_best_is_within_the_limits_and_otherwise_the_nearest():
    small, good, far = figures(0.8, 1e6), figures(0.95, 9e6), figures(0.5, 90e6)
    assert best([far, small, good], SOURCE, LIMITS) == 2
    assert best([far, small], SOURCE, LIMITS) == 1
    assert best([], SOURCE, LIMITS) is None
    assert best([figures(0.91), figures(0.93)], SOURCE, LIMITS) == 1  # as small: the higher score


def test_each_missed_limit_has_a_line():
    lines = missed_lines(figures(0.81, 12e6), LIMITS)
    assert lines == [
        "max_mb: size 12 MB, limit 10.0 MB (missed by 20.0%)",
        "keep: keeps 81.0% of the score, limit 90.0% (missed by 10.0%)",
    ]
