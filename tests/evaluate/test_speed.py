"""A race between runners of known speed finds their ratio."""

import time

import pytest

from niwaki.evaluate.speed import race


def sleeper(ms_each: float, calls: list):
    def run(texts):
        calls.append(len(texts))
        time.sleep(ms_each * len(texts) / 1e3)

    return run


def test_the_ratio_of_two_sleepers():
    calls = {"slow": [], "fast": []}
    contenders = {"slow": sleeper(6, calls["slow"]), "fast": sleeper(1, calls["fast"])}
    result = race(contenders, ["x"] * 16, reference="slow", rounds=6, singles=4)
    slow, fast = result["contenders"]["slow"], result["contenders"]["fast"]
    assert fast["ratio"]["value"] == pytest.approx(6, rel=0.35)
    assert slow["ratio"]["value"] == pytest.approx(1)
    assert fast["ratio"]["low"] <= fast["ratio"]["value"] <= fast["ratio"]["high"]
    assert slow["throughput"]["value"] == pytest.approx(1000 / 6, rel=0.3)
    assert 6 <= slow["latency_ms"]["p50"] < 12 and slow["latency_ms"]["p50"] <= slow["latency_ms"]["p95"] <= slow["latency_ms"]["p99"]  # fmt: skip
    assert result["reference"] == "slow" and result["texts"] == 16
    assert calls["slow"].count(16) == calls["fast"].count(16) == 6  # whole rounds, after a short warm-up
    assert calls["slow"].count(1) >= 6 * 4
    assert len(fast["per_second"]) == 6


def test_everyone_starts_a_round_in_turn():
    order = []
    contenders = {name: (lambda texts, name=name: order.append((name, len(texts)))) for name in "abc"}
    race(contenders, ["x"] * 8, reference="a", rounds=6, singles=1)
    whole = [name for name, count in order if count == 8]
    assert whole == ["a", "b", "c", "b", "c", "a", "c", "a", "b"] * 2
