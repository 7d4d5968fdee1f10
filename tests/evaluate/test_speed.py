"""A comparison of runners of known speed finds their ratio, on a simulated machine without a real clock."""

from types import SimpleNamespace

import pytest

from meter.simulated import Machine
from niwaki.evaluate import speed
from niwaki.evaluate.speed import race
from niwaki.meter import Reading
from niwaki.meter.compare import LEVEL

TRIALS = 100
MS = {"slow": 6.0, "middle": 3.0, "fast": 1.0}  # for each text


@pytest.fixture
def raced(monkeypatch):
    """Runs a race on a machine of some nature; `taken` holds who ran how many texts, in order."""

    def start(machine, texts=16, singles=4, **more):
        monkeypatch.setattr(speed, "time", SimpleNamespace(perf_counter=lambda: machine.seconds))
        monkeypatch.setattr(
            speed, "gc", SimpleNamespace(collect=int, freeze=int, unfreeze=int, get_freeze_count=int)
        )  # real, and slow
        taken = []

        def runner(name):
            def run(given):
                taken.append((name, len(given)))
                machine.work(MS[name] * len(given) / 1e3)

            return run

        contenders = {name: runner(name) for name in MS}
        return race(contenders, ["x"] * texts, "slow", singles=singles, window=lambda: machine, **more), taken

    return start


def test_figures_by_hand(raced):
    result, taken = raced(Machine(0, noise=0.0, free=1e9))
    slow, fast = result["contenders"]["slow"], result["contenders"]["fast"]
    assert fast["ratio"]["value"] == pytest.approx(6) and slow["ratio"]["value"] == pytest.approx(1)
    assert fast["ratio"]["low"] < 6 < fast["ratio"]["high"]  # the meter's systematic error is in it
    assert slow["throughput"]["value"] == pytest.approx(1000 / 6)
    assert slow["latency_ms"] == pytest.approx({"p50": 6, "p95": 6, "p99": 6})
    assert fast["cpu_seconds_per_1000"] == pytest.approx([1.0] * 6) and fast["per_second"] == pytest.approx([1000] * 6)
    assert fast["energy_per_1000"]["seconds"] == pytest.approx(1)
    assert (result["reference"], result["texts"], result["rounds"]) == ("slow", 16, 6)
    assert taken.count(("fast", 16)) == 6 and taken.count(("fast", 2)) == 1  # whole rounds, after a short warm-up
    assert taken.count(("fast", 1)) == 6 * 4


def test_the_percentiles_are_of_single_requests(raced, monkeypatch):
    monkeypatch.setitem(MS, "slow", 2.0)
    result, _ = raced(Machine(3, noise=0.5, free=1e9), singles=200)
    found = result["contenders"]["slow"]["latency_ms"]  # logarithms are normal, with a deviation of a half
    expected = {"p50": 2.0, "p95": 2.0 * 2.7183 ** (0.5 * 1.645), "p99": 2.0 * 2.7183 ** (0.5 * 2.326)}
    assert found == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("nature", [{"noise": 0.05}, {"drift": 0.1, "free": 1.0}, {"busy": 0.6, "free": 0.6}])
def test_ratio_intervals_have_their_coverage_on_a_loaded_machine(raced, nature):
    held = 0
    for seed in range(TRIALS):
        result, _ = raced(Machine(seed, **nature), singles=1)
        found = {name: entry["ratio"] for name, entry in result["contenders"].items()}
        held += (
            found["middle"]["low"] <= 2 <= found["middle"]["high"]
            and found["fast"]["low"] <= 6 <= found["fast"]["high"]
        )
    assert held >= TRIALS * (2 * LEVEL - 1 - 0.04)  # of two intervals both; 0.02 is one standard deviation


def test_order_of_rounds_is_rotated(raced):
    """No one runs twice in a row but at the turn: a disturbance longer than a lap then falls on all."""
    _, taken = raced(Machine(0), rounds=6)
    whole = [name for name, count in taken if count == 16]
    assert whole == ["slow", "middle", "fast"] * 3 + ["fast", "middle", "slow"] * 3


def test_the_ratio_of_energies_is_of_paired_rounds():
    """A lap of 30 J for each of 10 J, while both grow."""
    grown = [1.0, 2.0, 1.0, 4.0, 1.0, 1.0]
    before, after = (
        speed.Timings(readings=[Reading(1.0, 1.0, joules * one) for one in grown]) for joules in (30.0, 10.0)
    )
    found = speed.energy_ratio(before, after)
    assert found["value"] == pytest.approx(3) and found["low"] <= 3 <= found["high"] < 3.1
    unknown = speed.Timings(readings=[*after.readings[1:], Reading(1.0, 1.0)])
    assert speed.energy_ratio(before, unknown) is None


def test_result_contains_the_machine_load(raced):
    result, _ = raced(Machine(0, noise=0.0, free=1e9))
    assert result["conditions"]["spread"] == pytest.approx(0) and result["conditions"].keys() >= {
        "load",
        "steal",
        "others",
    }
