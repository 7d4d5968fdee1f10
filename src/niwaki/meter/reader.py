"""What a power source must be able to say. One file per source in `readers/`; the best that works is used."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from niwaki.core.catalog import Catalog
from niwaki.core.json_types import Json

LOST = object()  # stands for a snapshot that could not be taken


@dataclass(frozen=True)
class Usage:
    """What a window saw of the processor, whatever source gives the joules."""

    seconds: float
    cpu_seconds: float
    vcpus: int
    host_busy_seconds: float | None = None  # CPU seconds of everything on this machine; None in short windows


@dataclass(frozen=True)
class Energy:
    """Joules of one component, as one reader sees them."""

    joules: float
    low: float
    high: float
    tier: str
    source: str
    marginal: float | None = None
    constants: list[Json] = field(default_factory=list)
    extra: Json = field(default_factory=dict)


class Reader(ABC):
    """A source of joules. `rank` orders them: the lowest that is usable and covers something new is taken."""

    name: ClassVar[str]
    rank: ClassVar[int]
    covers: ClassVar[frozenset[str]]  # of "cpu", "gpu"
    needs_host: ClassVar[bool] = False  # whether every window must read the machine's busy time

    @abstractmethod
    def fault(self) -> str | None:
        """Why this source cannot be used here, or None. Includes the liveness check; called once."""

    def snapshot(self) -> Any:
        """The counter as it stands. Called at both ends of every window, so it must be quick."""
        return None

    @abstractmethod
    def energy(self, before: Any, after: Any, usage: Usage) -> Energy | None:
        """Joules between two snapshots, or None when this window cannot be believed."""


def all_readers() -> list[Reader]:
    """One of each in `readers/`, best first."""
    catalog = Catalog("niwaki.meter.readers", what="reader", plugins=False)
    found = [catalog.load(name, Reader)() for name in catalog.names()]
    return sorted(found, key=lambda reader: reader.rank)


def choose(readers: Iterable[Reader]) -> tuple[list[Reader], dict[str, str]]:
    """The readers to use, and why each better one was passed over."""
    chosen: list[Reader] = []
    passed: dict[str, str] = {}
    covered: set[str] = set()
    for reader in sorted(readers, key=lambda reader: reader.rank):
        if reader.covers & covered:
            continue  # a better source already counts this part; adding it would count it twice
        fault = reader.fault()
        if fault is None:
            chosen.append(reader)
            covered |= reader.covers
        else:
            passed[reader.name] = fault
    return chosen, passed


def constant(name: str, value: float | str, unit: str, source: str, year: int | str) -> Json:
    """A figure taken from outside, with where it is from."""
    return {"name": name, "value": value, "unit": unit, "source": source, "year": year}
