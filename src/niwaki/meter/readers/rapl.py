"""Intel and AMD energy counters (RAPL) of processor packages and memory, through Linux powercap.

A counter is believed only when it moves by a plausible amount while the processor spins. Packages that mirror another
die, subdomains (already inside the package) and psys (already includes it) are not counted. Counters wrap around.
"""

import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from niwaki.meter.apportion import apportion
from niwaki.meter.reader import Energy, Reader, Usage, constant

ERROR = 0.15  # a placeholder of niwaki's own survey, not a verified figure
MIN_WATTS = 0.5
MAX_WATTS = 1000.0  # where the package does not tell its limit
SPIN_SECONDS = 0.025
NEAR = 0.05  # of 50 ms: two reads of one counter may have one or two of its steps of 1 ms between them


@dataclass
class Domain:
    """One counter file."""

    path: Path
    kind: str  # "package" or "dram"
    range_uj: int  # where it wraps around
    max_watts: float
    file: int = -1

    def read(self) -> int:
        if self.file < 0:
            self.file = os.open(self.path / "energy_uj", os.O_RDONLY | os.O_CLOEXEC)
        return int(os.pread(self.file, 32, 0))

    def moved(self, before: int, after: int) -> int:
        return after - before if after >= before else after - before + self.range_uj


@dataclass(frozen=True)
class Count:
    """All domains added up without wrap-around, and how often so long a time passed unseen that one may be missing."""

    microjoules: int
    gaps: int


class Rapl(Reader):
    name = "rapl"
    rank = 20
    covers = frozenset({"cpu"})
    needs_host = True

    def __init__(self, root: Path = Path("/sys/class/powercap"), spin: Callable[[float], None] | None = None) -> None:
        self.root = root
        self.spin = spin or busy
        self.domains: list[Domain] = []
        self._last: list[int] = []
        self._last_at = 0.0
        self._count = Count(0, 0)
        self._lock = threading.Lock()

    def fault(self) -> str | None:
        domains = find_domains(self.root)
        if not any(domain.kind == "package" for domain in domains):
            return f"{self.root}: has no RAPL package counter"
        try:
            self.domains = trusted_domains(domains, self.spin)
        except PermissionError as error:
            return f"{error.filename}: not readable by this user; `sudo chmod a+r` on it mends that"
        except (OSError, ValueError) as error:
            return f"{self.root}: RAPL cannot be read ({error})"
        if not any(domain.kind == "package" for domain in self.domains):
            return f"{self.root}: the RAPL counter did not move plausibly while the processor was busy"
        self._last, self._last_at = [domain.read() for domain in self.domains], time.monotonic()
        return None

    def snapshot(self) -> Count:
        with self._lock:
            values, now = [domain.read() for domain in self.domains], time.monotonic()
            moved = sum(d.moved(*ends) for d, *ends in zip(self.domains, self._last, values, strict=True))
            unseen = now - self._last_at > min(domain.range_uj / 1e6 / domain.max_watts for domain in self.domains)
            self._count = Count(self._count.microjoules + moved, self._count.gaps + unseen)
            self._last, self._last_at = values, now
            return self._count

    def energy(self, before: Count, after: Count, usage: Usage) -> Energy | None:
        joules = (after.microjoules - before.microjoules) / 1e6
        if after.gaps != before.gaps or joules <= 0:
            return None  # it may have wrapped unseen, or the window was shorter than the counter's step
        ours, low, high, tier = apportion(joules, usage, ERROR)
        kinds = " and ".join(sorted({domain.kind for domain in self.domains}, reverse=True))
        band = constant("RAPL error", ERROR, "±", "niwaki docs/measuring.md (placeholder)", 2026)
        return Energy(ours, low, high, tier, f"RAPL {kinds}", constants=[band], extra={"machine_joules": joules})


def find_domains(root: Path) -> list[Domain]:
    """Packages and their memory; other subdomains, psys and the mmio copies are left."""
    found = []
    for folder in sorted(root.glob("intel-rapl:*")):
        name = _text(folder / "name")
        package = re.fullmatch(r"intel-rapl:\d+", folder.name) and name.startswith("package")
        memory = re.fullmatch(r"intel-rapl:\d+:\d+", folder.name) and name == "dram"
        if package or memory:
            wraps = int(_text(folder / "max_energy_range_uj") or 2**32)
            limit = float(_text(folder / "constraint_0_power_limit_uw") or 0) / 1e6
            found.append(Domain(folder, "package" if package else "dram", wraps, 2 * limit or MAX_WATTS))
    return found


def trusted_domains(domains: list[Domain], spin: Callable[[float], None]) -> list[Domain]:
    """The domains that moved plausibly in two spins, without those that only repeat another."""
    looks = [([domain.read() for domain in domains], time.perf_counter())]
    for _ in range(2):
        spin(SPIN_SECONDS)
        looks.append(([domain.read() for domain in domains], time.perf_counter()))
    seconds = looks[-1][1] - looks[0][1]
    live: list[tuple[Domain, list[int]]] = []
    for index, domain in enumerate(domains):
        values = [look[0][index] for look in looks]
        if is_live(domain, values, seconds) and not any(is_duplicate(domain, values, other) for other in live):
            live.append((domain, values))
    return [domain for domain, _ in live]


def is_live(domain: Domain, values: list[int], seconds: float) -> bool:
    moved = [domain.moved(*pair) for pair in pairwise(values)]
    return min(moved) > 0 and MIN_WATTS <= sum(moved) / 1e6 / seconds <= domain.max_watts


def is_duplicate(domain: Domain, values: list[int], live: tuple[Domain, list[int]]) -> bool:
    """Whether two counters are one: the same steps to the microjoule, or the same values all the time."""
    other, others = live
    if other.kind != domain.kind:
        return False
    steps = [domain.moved(*pair) for pair in pairwise(values)]
    same_steps = steps == [other.moved(*pair) for pair in pairwise(others)]
    return same_steps or all(abs(a - b) <= NEAR * sum(steps) for a, b in zip(values, others, strict=True))


def busy(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
