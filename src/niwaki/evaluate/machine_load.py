"""How busy the machine was during a measurement: other processes, the hypervisor, and the spread of equal laps."""

from collections.abc import Iterable, Sequence
from statistics import median

from niwaki.core.json_types import Json
from niwaki.core.system import load_average
from niwaki.meter.counters import cpu_seconds
from niwaki.meter.machine import Host


class LoadMonitor:
    """Starts when it is created. Shares are of the machine's CPU time since then; None if /proc does not have it."""

    def __init__(self) -> None:
        self.host, self.own, self.load = Host.now(), cpu_seconds(), load_average()

    def conditions(self, laps: Iterable[Sequence[float]]) -> Json:
        """`laps` are the seconds of each contender, lap by lap."""
        return {"load": self.load, **shares(self.host, Host.now(), cpu_seconds() - self.own), "spread": spread(laps)}


def shares(before: Host | None, after: Host | None, own_seconds: float) -> dict[str, float | None]:
    """The shares of CPU time that the hypervisor gave to other machines (`steal`) and other processes used (`others`)."""
    total = after.total_seconds - before.total_seconds if before and after else 0.0
    if not before or not after or total <= 0:
        return {"steal": None, "others": None}
    busy = after.busy_seconds - before.busy_seconds
    return {
        "steal": (after.steal_seconds - before.steal_seconds) / total,
        "others": max(0.0, busy - own_seconds) / total,
    }


def spread(laps: Iterable[Sequence[float]]) -> float:
    """(slowest − fastest) ÷ median of the laps of a contender; the median over all contenders."""
    return median((max(seconds) - min(seconds)) / median(seconds) for seconds in laps)
