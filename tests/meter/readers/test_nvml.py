"""NVIDIA GPUs, with a simulated nvidia-ml-py."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from meter.usages import ALL_OURS
from meter.work import burn
from niwaki.meter import meter
from niwaki.meter.readers.nvml import Nvml
from niwaki.meter.readers.vcpu import VCpu, watts_per_vcpu
from niwaki.meter.window import ReaderSet


class Card:
    """An energy counter in mJ that moves by `watts` with the clock."""

    def __init__(self, watts: float, pids: tuple[int, ...] = ()) -> None:
        self.watts, self.pids, self.millijoules = watts, pids, 1e6


def fake_nvml(cards: list[Card], step_seconds: float) -> SimpleNamespace:
    def total(card: Card) -> float:
        card.millijoules += card.watts * step_seconds * 1e3
        return card.millijoules

    return SimpleNamespace(
        NVMLError=type("NVMLError", (Exception,), {}),
        nvmlInit=lambda: None,
        nvmlDeviceGetCount=lambda: len(cards),
        nvmlDeviceGetHandleByIndex=lambda index: cards[index],
        nvmlDeviceGetEnforcedPowerLimit=lambda card: 300_000,
        nvmlDeviceGetTotalEnergyConsumption=total,
        nvmlDeviceGetComputeRunningProcesses=lambda card: [SimpleNamespace(pid=pid) for pid in card.pids],
    )


@pytest.fixture
def with_cards(monkeypatch: pytest.MonkeyPatch) -> Any:
    def put(*cards: Card) -> Nvml:
        monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(list(cards), 0.05))
        return Nvml(wait_seconds=0.05)

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return put


def test_gpu_energy_is_added_to_that_of_the_processor(with_cards: Any) -> None:
    with meter(readers=ReaderSet([with_cards(Card(100.0), Card(50.0)), VCpu()])) as m:
        burn(0.02)
    own = m.reading.cpu_seconds * watts_per_vcpu()["max"]
    assert m.reading.joules == pytest.approx(100 * 0.05 + 50 * 0.05 + own)
    assert m.reading.tier == "estimated"  # the worst of the two parts
    assert [part["tier"] for part in m.reading.detail["parts"]] == ["measured", "estimated"]


def test_implausible_gpu_counter_is_not_trusted(with_cards: Any) -> None:
    assert "not plausible" in with_cards(Card(0.0)).fault()
    assert "not plausible" in with_cards(Card(100.0), Card(5000.0)).fault()


def test_energy_of_a_shared_gpu_is_a_range_from_zero_to_all(with_cards: Any) -> None:
    reader = with_cards(Card(100.0, pids=(1, 2, 3)))
    assert reader.fault() is None
    energy = reader.energy([0.0], [8.0], ALL_OURS)
    assert (energy.tier, energy.joules, energy.low) == ("apportioned", 2.0, 0.0) and energy.high > 8


def test_only_visible_gpus_are_counted(with_cards: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    reader = with_cards(Card(0.0), Card(100.0))
    assert reader.fault() is None and len(reader.devices) == 1
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert with_cards(Card(100.0)).fault() == "no NVIDIA GPU"


def test_missing_library_is_reported_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert "niwaki[gpu]" in str(Nvml().fault())
