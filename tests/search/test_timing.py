"""Times are ratios to the source in the same rounds, so a busy machine changes none of them."""

import pytest

from niwaki.search.timing import REFERENCE, times_of


def contender(slow: float, factor: float, energy: float | None = 2.0) -> dict:
    """A model that needs `factor` of the reference's time, on a machine that is `slow` times slower."""
    return {
        "latency_ms": {"p50": 8 * factor * slow, "p99": 10 * factor * slow},
        "throughput": {"value": 200 / (factor * slow)},
        "energy_per_1000": {"joules": 50 * factor * slow},
        "ratio": {"value": 1 / factor},
        "energy_ratio": None if energy is None else {"value": 1 / factor},
    }


def race(slow: float) -> dict:
    return {"contenders": {REFERENCE: contender(slow, 1.0), "half": contender(slow, 0.5)}}


def test_times_do_not_depend_on_how_busy_the_machine_is():
    quiet = {"latency_ms": 8.0, "p99_ms": 10.0, "seconds_per_text": 0.005, "joules_per_1000": 50.0}
    expected = {name: value / 2 for name, value in quiet.items()}
    assert times_of(race(1.0))["half"] == pytest.approx(expected)
    assert times_of(race(3.0), quiet)["half"] == pytest.approx(expected)
    assert times_of(race(3.0))["half"]["latency_ms"] == pytest.approx(12.0)  # the first race sets the scale


def test_unknown_energy_stays_unknown():
    result = {"contenders": {REFERENCE: contender(1, 1.0), "half": contender(1, 0.5, None)}}
    assert times_of(result)["half"]["joules_per_1000"] is None
