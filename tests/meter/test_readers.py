"""The sources of joules: order, what each believes, and what each says when it cannot."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from niwaki.core.catalog import Catalog
from niwaki.core.errors import InputError, UsageError
from niwaki.meter import meter
from niwaki.meter.apportion import shares
from niwaki.meter.reader import Reader, Usage, all_readers, choose
from niwaki.meter.readers.flops import energy_of, reading_of
from niwaki.meter.readers.nvml import Nvml
from niwaki.meter.readers.vcpu import VCpu, watts_of, watts_per_vcpu
from niwaki.meter.readers.wall import Wall
from niwaki.meter.tables import rows
from niwaki.meter.window import ReaderSet

from .work import burn

ALL_OURS = Usage(seconds=1.0, cpu_seconds=1.0, vcpus=1, host_busy_seconds=1.0)


def test_every_file_is_a_reader_and_the_order_is_the_promised_one() -> None:
    catalog = Catalog("niwaki.meter.readers", what="reader")
    readers = all_readers()
    assert sorted(reader.name for reader in readers) == catalog.names()
    assert [reader.name for reader in readers] == ["wall", "rapl", "nvml", "vcpu", "flops"]
    assert len({reader.rank for reader in readers}) == len(readers)


def fake(name: str, rank: int, covers: set[str], fault: str | None = None) -> Reader:
    kind = type(name, (VCpu,), {"name": name, "rank": rank, "covers": frozenset(covers), "fault": lambda self: fault})
    return kind()


def test_the_best_source_of_each_part_is_taken_and_none_twice() -> None:
    readers = [fake("estimate", 9, {"cpu"}), fake("card", 3, {"gpu"}), fake("socket", 2, {"cpu"})]
    chosen, passed = choose(readers)
    assert [reader.name for reader in chosen] == ["socket", "card"] and passed == {}
    chosen, passed = choose([*readers, fake("plug", 1, {"cpu", "gpu"})])
    assert [reader.name for reader in chosen] == ["plug"]
    chosen, passed = choose([*readers, fake("plug", 1, {"cpu", "gpu"}, "unplugged")])
    assert [reader.name for reader in chosen] == ["socket", "card"] and passed == {"plug": "unplugged"}


# -- CPU seconds × watts per vCPU


def cpu(vendor: str, family: int, model: int, stepping: int = 1, virtualised: bool | None = True) -> dict[str, Any]:
    return {"vendor": vendor, "family": family, "model": model, "stepping": stepping, "virtualised": virtualised}


@pytest.mark.parametrize(
    ("processor", "platform", "watts", "band"),
    [
        (cpu("AuthenticAMD", 25, 17), "EPYC4", 2.28, 3.0),
        (cpu("AuthenticAMD", 25, 17, virtualised=False), "EPYC4", 2.28, 2.0),
        (cpu("AuthenticAMD", 25, 1), "EPYC3", 1.96, 3.0),
        (cpu("GenuineIntel", 6, 207), "Emerald Rapids", 4.48, 3.0),
        (cpu("GenuineIntel", 6, 85, stepping=4), "Skylake", 4.10, 3.0),
        (cpu("GenuineIntel", 6, 85, stepping=7), "Cascade Lake", 4.06, 3.0),
        (cpu("AuthenticAMD", 26, 2, virtualised=False), "unknown", 3.76, 3.0),  # EPYC5: its row is not trusted
        ({"vendor": None, "family": None, "model": None, "stepping": None, "virtualised": None}, "unknown", 3.76, 3.0),
    ],
)
def test_watts_by_processor(processor: dict[str, Any], platform: str, watts: float, band: float) -> None:
    found = watts_of(processor)
    assert (found["platform"], found["max"], found["band"]) == (platform, watts, band)


def test_attributed_marginal_and_idle_worked_out_by_hand() -> None:
    watts = watts_per_vcpu()
    energy = VCpu().energy(None, None, Usage(seconds=10.0, cpu_seconds=4.0, vcpus=2))
    assert energy.joules == pytest.approx(4 * watts["max"])
    assert energy.marginal == pytest.approx(4 * (watts["max"] - watts["min"]))
    assert energy.extra["idle_joules"] == pytest.approx((2 * 10 - 4) * watts["min"])
    # attributed + idle rest = the whole machine: marginal of the work + idle draw of all vCPUs all the time
    whole = energy.joules + energy.extra["idle_joules"]
    assert whole == pytest.approx(energy.marginal + watts["min"] * 2 * 10)


def test_every_known_processor_has_watts() -> None:
    assert {row["platform"] for row in rows("processors")} <= {row["platform"] for row in rows("watts")}


# -- a file that a wall meter or hypervisor writes


@pytest.mark.parametrize(
    ("name", "text", "joules"),
    [("energy_uj", "5000000", 5.0), ("total.wh", "2", 7200.0), ("plug_kwh", "0.001", 3600.0), ("meter", "12.5", 12.5)],
)
def test_units_of_energy_files(tmp_path: Path, name: str, text: str, joules: float) -> None:
    (tmp_path / name).write_text(text)
    assert Wall(tmp_path / name).snapshot() == pytest.approx(joules)


def test_an_energy_file_is_preferred_and_apportioned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "plug_j"
    file.write_text("100")
    monkeypatch.setenv("NIWAKI_ENERGY_FILE", str(file))
    monkeypatch.setenv("NIWAKI_ENERGY_ERROR", "0.02")
    with meter(readers=ReaderSet()) as m:
        burn(0.05)
        file.write_text("103")
    assert m.reading.source == "energy file plug_j" and m.reading.detail["machine_joules"] == pytest.approx(3)
    assert m.reading.joules is not None and 0 < m.reading.joules <= 3
    energy = Wall().energy(100.0, 103.0, ALL_OURS)
    assert energy is not None and energy.tier == "measured" and energy.joules == pytest.approx(3)
    assert energy.high == pytest.approx(3 * 1.02)


def test_a_meter_that_stands_still_or_is_reset_is_not_believed(tmp_path: Path) -> None:
    assert Wall(tmp_path / "x").energy(5.0, 5.0, ALL_OURS) is None
    assert Wall(tmp_path / "x").energy(5.0, 1.0, ALL_OURS) is None


@pytest.mark.parametrize("text", [None, "", "soon"])
def test_an_unreadable_energy_file_is_rejected(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "plug_j"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=r"plug_j.*fix or unset"):
        Wall(file).fault()


def test_shares_of_a_machine() -> None:
    low, share, high = shares(Usage(seconds=1, cpu_seconds=1, vcpus=4, host_busy_seconds=2))
    assert share == 0.5 and 0.48 < low < 0.5 < high < 0.52
    assert shares(Usage(seconds=1, cpu_seconds=0, vcpus=4, host_busy_seconds=2)) == (0, 0, 0)
    assert shares(Usage(seconds=0.01, cpu_seconds=0.01, vcpus=4)) == (0.25, 0.5, 1.0)  # too short to see the others
    assert shares(Usage(seconds=1, cpu_seconds=1, vcpus=1, host_busy_seconds=0.9))[1:] == (1.0, 1.0)  # never above all


# -- GPUs, with a made-up library in the place of nvidia-ml-py


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


def test_a_gpu_is_measured_and_added_to_the_processor(with_cards: Any) -> None:
    with meter(readers=ReaderSet([with_cards(Card(100.0), Card(50.0)), VCpu()])) as m:
        burn(0.02)
    own = 0.02 * watts_per_vcpu()["max"]
    assert m.reading.joules == pytest.approx(100 * 0.05 + 50 * 0.05 + own, rel=0.05)
    assert m.reading.tier == "estimated"  # the worst of the two parts
    assert [part["tier"] for part in m.reading.detail["parts"]] == ["measured", "estimated"]


def test_a_dead_or_mad_gpu_counter_is_not_believed(with_cards: Any) -> None:
    assert "not plausible" in with_cards(Card(0.0)).fault()
    assert "not plausible" in with_cards(Card(100.0), Card(5000.0)).fault()


def test_a_gpu_shared_with_others_is_a_range_from_nothing_to_all(with_cards: Any) -> None:
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


def test_without_the_library_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert "niwaki[gpu]" in str(Nvml().fault())


# -- FLOPs


def test_flops_to_joules_by_hand() -> None:
    energy = energy_of(96e9)  # one CPU-second of matrix products of 512
    assert energy.joules == pytest.approx(watts_per_vcpu()["max"])
    assert energy.high / energy.low == pytest.approx(100) and energy.tier == "estimated"
    assert energy_of(96e9, "tanh").joules > 50 * energy.joules


def test_flops_as_a_reading_and_invalid_arguments() -> None:
    assert reading_of(1e12).joules == pytest.approx(energy_of(1e12).joules)
    with pytest.raises(UsageError, match="did you mean 'gemm-512'"):
        energy_of(1e9, "gem-512")
    with pytest.raises(UsageError, match="below 0"):
        energy_of(-1)
