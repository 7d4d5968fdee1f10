"""What the machine is and how busy it is, from /proc alone. Where /proc has nothing to say, None."""

import os
import platform
import time
from functools import cache
from pathlib import Path

from niwaki.core.json_types import Json
from niwaki.core.system import TICK_SECONDS, load_average, memory_bytes

REFRESH_SECONDS = 0.1  # ticks are 10 ms: reading the machine's busy time more often says nothing and costs 7 µs


def machine() -> Json:
    """The processor, the memory, whether it is a virtual machine, and its load now."""
    host = Host.now()
    return {
        **processor(),
        "vcpus": vcpus(),
        "memory_bytes": memory_bytes(),
        "load": load_average(),
        "steal": host.steal_seconds / host.total_seconds if host and host.total_seconds else None,  # since boot
        "system": f"{platform.system()} {platform.release()}",
    }


@cache
def processor(path: str = "/proc/cpuinfo") -> Json:
    """Name, family, model and stepping of the first processor, and whether a hypervisor is underneath."""
    words = _first_processor(path)
    number = {key: int(words[key]) for key in ("cpu family", "model", "stepping") if words.get(key, "").isdigit()}
    return {
        "cpu": words.get("model name") or platform.processor() or platform.machine(),
        "vendor": words.get("vendor_id"),
        "family": number.get("cpu family"),
        "model": number.get("model"),
        "stepping": number.get("stepping"),
        "virtualised": "hypervisor" in words["flags"].split() if "flags" in words else None,
    }


def _first_processor(path: str) -> dict[str, str]:
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    lines = [line.partition(":") for line in text.partition("\n\n")[0].splitlines()]
    return {key.strip(): value.strip() for key, _, value in lines}


def vcpus() -> int:
    return os.cpu_count() or 1


class Host:
    """Busy, stolen and total CPU seconds of the whole machine since boot."""

    __slots__ = ("at", "busy_seconds", "steal_seconds", "total_seconds")
    _stat: int | None = None
    _last: "Host | None" = None

    def __init__(self, ticks: list[int]) -> None:
        user, nice, system, idle, iowait, irq, softirq, steal = ticks[:8]
        self.at = time.perf_counter()
        self.busy_seconds = (user + nice + system + irq + softirq) * TICK_SECONDS
        self.steal_seconds = steal * TICK_SECONDS
        self.total_seconds = self.busy_seconds + self.steal_seconds + (idle + iowait) * TICK_SECONDS

    @classmethod
    def now(cls) -> "Host | None":
        """Read afresh; None where there is no /proc/stat."""
        try:
            if cls._stat is None:
                cls._stat = os.open("/proc/stat", os.O_RDONLY)
            words = os.pread(cls._stat, 256, 0).split(b"\n", 1)[0].split()
            cls._last = cls([int(word) for word in words[1:9]])
        except (OSError, ValueError):
            return None
        return cls._last

    @classmethod
    def recent(cls) -> "Host | None":
        """At most `REFRESH_SECONDS` old: short windows follow one another and the machine does not change that fast."""
        if cls._last is not None and time.perf_counter() - cls._last.at < REFRESH_SECONDS:
            return cls._last
        return cls.now()
