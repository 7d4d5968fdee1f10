"""RAPL on made-up trees: each trap that real machines set."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from meter.work import burn
from niwaki.meter import meter
from niwaki.meter.reader import Usage, choose
from niwaki.meter.readers.rapl import Rapl, find_domains
from niwaki.meter.readers.vcpu import VCpu
from niwaki.meter.window import ReaderSet

RANGE = 262_143_328_850
USAGE = Usage(seconds=1.0, cpu_seconds=1.0, vcpus=1, host_busy_seconds=1.0)  # the machine is all ours


class Tree:
    """A powercap folder whose counters the test moves."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.values: dict[str, int] = {}
        self.watts: dict[str, float] = {}

    def add(self, domain: str, name: str, watts: float, start: int = 1_000_000, limit: float | None = None) -> "Tree":
        folder = self.root / domain
        folder.mkdir()
        (folder / "name").write_text(f"{name}\n")
        (folder / "max_energy_range_uj").write_text(f"{RANGE}\n")
        if limit:
            (folder / "constraint_0_power_limit_uw").write_text(f"{int(limit * 1e6)}\n")
        self.values[domain], self.watts[domain] = start, watts
        self._write(domain)
        return self

    def run(self, seconds: float) -> None:
        """Time passes: really, so that implied watts are plausible, and on the counters."""
        start = time.perf_counter()
        time.sleep(seconds)
        passed = time.perf_counter() - start
        for domain, watts in self.watts.items():
            self.move(domain, watts * passed)

    def move(self, domain: str, joules: float) -> None:
        self.values[domain] = (self.values[domain] + int(joules * 1e6)) % RANGE
        self._write(domain)

    def _write(self, domain: str) -> None:
        (self.root / domain / "energy_uj").write_text(f"{self.values[domain]}\n")

    def reader(self) -> Rapl:
        return Rapl(self.root, spin=self.run)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def counted(reader: Rapl, change: Callable[[], None]) -> float:
    before = reader.snapshot()
    change()
    energy = reader.energy(before, reader.snapshot(), USAGE)
    assert energy is not None
    return energy.joules


def test_packages_and_memory_are_added_and_subdomains_are_not(tree: Tree) -> None:
    tree.add("intel-rapl:0", "package-0", 50).add("intel-rapl:0:0", "core", 30).add("intel-rapl:0:1", "dram", 5)
    tree.add("intel-rapl:1", "package-1", 60, start=7).add("intel-rapl:2", "psys", 200)
    tree.add("intel-rapl-mmio:0", "package-0", 50)
    reader = tree.reader()
    assert reader.fault() is None
    assert [domain.path.name for domain in reader.domains] == ["intel-rapl:0", "intel-rapl:0:1", "intel-rapl:1"]

    def change() -> None:
        for domain in tree.values:
            tree.move(domain, 10)

    assert counted(reader, change) == pytest.approx(30)


def test_wrap_around(tree: Tree) -> None:
    tree.add("intel-rapl:0", "package-0", 50, start=RANGE - 20_000_000)
    reader = tree.reader()
    assert reader.fault() is None
    assert counted(reader, lambda: tree.move("intel-rapl:0", 30)) == pytest.approx(30)
    assert tree.values["intel-rapl:0"] < 20_000_000  # it did wrap


def test_a_wrap_during_the_liveness_check_is_no_fault(tree: Tree) -> None:
    tree.add("intel-rapl:0", "package-0", 50, start=RANGE - 1_000_000)
    assert tree.reader().fault() is None


def test_mirrored_dies_are_counted_once(tree: Tree) -> None:
    tree.add("intel-rapl:0", "package-0-die-0", 70, start=5_000_000)
    tree.add("intel-rapl:1", "package-0-die-1", 70, start=5_000_000)
    reader = tree.reader()
    assert reader.fault() is None
    assert len(reader.domains) == 1


def test_a_mirror_read_one_counter_step_later_is_still_seen(tree: Tree) -> None:
    tree.add("intel-rapl:0", "package-0-die-0", 70, start=5_000_000)
    tree.add("intel-rapl:1", "package-0-die-1", 70, start=5_070_000)  # 70 W for the 1 ms between two updates
    tree.watts["intel-rapl:1"] = 70.3
    reader = tree.reader()
    assert reader.fault() is None and len(reader.domains) == 1


def test_two_real_sockets_under_like_load_are_both_counted(tree: Tree) -> None:
    tree.add("intel-rapl:0", "package-0", 70.0, start=5_000_000)
    tree.add("intel-rapl:1", "package-1", 70.1, start=9_000_000)
    reader = tree.reader()
    assert reader.fault() is None and len(reader.domains) == 2


def test_a_dead_counter_is_passed_over_for_the_next_tier(tree: Tree) -> None:
    tree.add("intel-rapl:0", "package-0", 0)
    chosen, passed = choose([VCpu(), tree.reader()])
    assert [reader.name for reader in chosen] == ["vcpu"]
    assert "did not move plausibly" in passed["rapl"]


def test_a_counter_that_stalls_half_the_time_is_not_believed(tree: Tree) -> None:
    tree.add("intel-rapl:0", "package-0", 50)
    spins = []

    def spin(seconds: float) -> None:
        spins.append(seconds)
        if len(spins) == 1:
            tree.run(seconds)

    assert "plausibly" in str(Rapl(tree.root, spin=spin).fault()) and len(spins) == 2


@pytest.mark.parametrize("watts", [0.1, 5000])
def test_implausible_watts_are_not_believed(tree: Tree, watts: float) -> None:
    tree.add("intel-rapl:0", "package-0", watts)
    assert "plausibly" in str(tree.reader().fault())


def test_more_than_twice_the_stated_limit_is_not_believed(tree: Tree) -> None:
    tree.add("intel-rapl:0", "package-0", 500, limit=65)
    assert "plausibly" in str(tree.reader().fault())


def test_psys_alone_is_no_package(tree: Tree) -> None:
    tree.add("intel-rapl:0", "psys", 40)
    assert find_domains(tree.root) == [] and "no RAPL package" in str(tree.reader().fault())


def test_permission_denied_says_how_to_fix_it(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.add("intel-rapl:0", "package-0", 50)

    def denied(path: Path, *rest: object, **named: object) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    # the tests may run as root, whom no mode stops
    monkeypatch.setattr("niwaki.meter.readers.rapl.os.open", denied)
    fault = tree.reader().fault()
    assert fault is not None and "energy_uj" in fault and "chmod a+r" in fault


def test_a_counter_left_alone_so_long_that_it_may_have_wrapped_is_not_believed(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.add("intel-rapl:0", "package-0", 50, limit=100)
    reader = tree.reader()
    assert reader.fault() is None
    before, real = reader.snapshot(), time.monotonic
    tree.move("intel-rapl:0", 10)
    monkeypatch.setattr(time, "monotonic", lambda: real() + 2 * RANGE / 1e6 / 200)
    assert reader.energy(before, reader.snapshot(), USAGE) is None


def test_looking_in_between_keeps_a_long_window_honest(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.add("intel-rapl:0", "package-0", 50, limit=100)
    reader = tree.reader()
    assert reader.fault() is None
    before, real = reader.snapshot(), time.monotonic
    safe = RANGE / 1e6 / 200  # seconds at the highest plausible watts
    for step in range(1, 5):  # 4 × 0.6 of the range: wraps twice
        tree.move("intel-rapl:0", 0.6 * RANGE / 1e6)
        monkeypatch.setattr(time, "monotonic", lambda step=step: real() + step * 0.9 * safe)
        after = reader.snapshot()
    energy = reader.energy(before, after, USAGE)
    assert energy is not None and energy.joules == pytest.approx(2.4 * RANGE / 1e6, rel=1e-6)


def test_on_a_shared_machine_the_figure_is_apportioned(tree: Tree) -> None:
    tree.add("intel-rapl:0", "package-0", 50)
    reader = tree.reader()
    assert reader.fault() is None
    before = reader.snapshot()
    tree.move("intel-rapl:0", 100)
    shared = Usage(seconds=2.0, cpu_seconds=1.0, vcpus=2, host_busy_seconds=4.0)
    energy = reader.energy(before, reader.snapshot(), shared)
    assert energy is not None and energy.tier == "apportioned"
    assert energy.joules == pytest.approx(25) and energy.low < 25 < energy.high
    assert energy.extra["machine_joules"] == pytest.approx(100)


def test_a_window_on_a_live_tree_is_measured_and_one_too_short_is_estimated(tree: Tree) -> None:
    tree.add("intel-rapl:0", "package-0", 50)
    readers = ReaderSet([tree.reader(), VCpu()])
    with meter(readers=readers) as m:
        burn(0.05)
        tree.move("intel-rapl:0", 4)
    assert m.reading.source == "RAPL package" and m.reading.tier in ("measured", "apportioned")
    assert m.reading.joules is not None and 0 < m.reading.joules <= 4 and m.reading.marginal_joules is None
    with meter(readers=readers) as still:
        pass
    assert still.reading.tier == "estimated" and still.reading.detail["distrusted"] == ["rapl"]
