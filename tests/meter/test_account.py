"""Readings computed from two samples of the counters."""

import json
import os

import pytest

from meter.work import burn
from niwaki.meter import Reading, meter
from niwaki.meter.reader import Energy, Reader
from niwaki.meter.readers.vcpu import VCpu, watts_per_vcpu
from niwaki.meter.window import ReaderSet


class Leaving(Reader):
    """A counter that can be read once."""

    name, rank, covers = "leaving", 1, frozenset({"cpu"})
    looks = 0

    def fault(self) -> None:
        return None

    def snapshot(self) -> int:
        self.looks += 1
        if self.looks > 1:
            raise OSError("gone")
        return 0

    def energy(self, before: object, after: object, usage: object) -> Energy:
        raise AssertionError("must not be called")


def test_co2e_needs_a_place_and_cost_a_price() -> None:
    with meter(pue=1.5) as m:
        burn(0.01)
    reading = m.reading
    assert reading.co2e_grams is None and reading.usd is None
    assert reading.joules is not None
    assert reading.detail["co2e_assumed_grams"] == pytest.approx(reading.joules / 3.6e6 * 1.5 * 481)
    assumed = [item for item in reading.detail["constants"] if item.get("assumed")]
    assert any(item["value"] == 481 and item["year"] == 2023 for item in assumed)
    low, high = reading.detail["usd_assumed"]
    assert 0 < low < high


def test_co2e_and_cost_match_values_computed_by_hand() -> None:
    with meter(place="FRA", pue=1.2, price=0.05) as m:
        burn(0.02)
    reading = m.reading
    assert reading.joules is not None
    assert reading.co2e_grams == pytest.approx(reading.joules / 3.6e6 * 1.2 * 56)
    assert reading.usd == pytest.approx(reading.seconds / 3600 * 0.05 * os.cpu_count())
    assert reading.detail["co2e_low_grams"] < reading.co2e_grams < reading.detail["co2e_high_grams"]


def test_every_constant_has_a_source() -> None:
    with meter(place="SWE", price="aws-m7i") as m:
        burn(0.15)  # long enough for the machine's load to be seen
    reading = m.reading
    assert reading.tier == "estimated" and reading.joules is not None and reading.marginal_joules is not None
    assert reading.joules_low < reading.joules < reading.joules_high and reading.marginal_joules < reading.joules
    assert all(item["source"] and "year" in item for item in reading.detail["constants"])
    assert 0 <= reading.detail["host"]["steal"] <= 1 and reading.detail["host"]["load"] >= 0
    assert Reading.from_dict(json.loads(json.dumps(reading.to_dict()))) == reading


def test_lost_counter_is_replaced_by_an_estimate() -> None:
    with meter(readers=ReaderSet([Leaving(), VCpu()])) as m:
        burn(0.02)
    assert m.reading.tier == "estimated" and m.reading.detail["distrusted"] == ["leaving"]
    assert m.reading.cpu_seconds >= 0.02
    assert m.reading.joules == pytest.approx(m.reading.cpu_seconds * watts_per_vcpu()["max"])


def test_energy_without_a_reader_is_unknown() -> None:
    with meter(readers=ReaderSet([]), place="FRA") as m:
        burn(0.01)
    reading = m.reading
    assert (reading.tier, reading.joules, reading.joules_low, reading.co2e_grams) == ("unknown", None, None, None)
    assert "energy unknown" in str(reading) and reading.cpu_seconds >= 0.01


def test_gpu_without_a_reader_is_reported_as_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("niwaki.meter.account.GPU_FILE", __file__)  # as if this machine had one
    with meter(readers=ReaderSet([VCpu()])) as m:
        burn(0.01)
    assert m.reading.detail["not_counted"] == ["gpu"] and "not counted: gpu" in str(m.reading)
