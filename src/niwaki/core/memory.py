"""How much memory can still be taken: of the machine, and of the group (container, job of a cluster) that limits this process.

Files that the system keeps at hand count as used in a group, and are given up when memory is asked for: they are free.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
FILES = {  # of version 2 and 1: the limit, what is used; "max", or a number beyond all memory, where there is none
    "memory.max": "memory.current",
    "memory.limit_in_bytes": "memory.usage_in_bytes",
}


def free_memory(proc: Path = PROC, groups: Path = GROUPS) -> int | None:
    """Bytes that can be taken without swapping; None where the system does not say."""
    found = []
    with contextlib.suppress(OSError, ValueError, KeyError):
        found.append(1024 * _table(proc / "meminfo")["MemAvailable:"])
    for folder in set(_folders(proc / "self" / "cgroup", groups)):
        for limit, used in FILES.items():
            with contextlib.suppress(OSError, ValueError):
                kept = _kept_files(folder / "memory.stat")
                found.append(int((folder / limit).read_text()) - int((folder / used).read_text()) + kept)
    return max(0, min(found)) if found else None


def _folders(told: Path, groups: Path) -> Iterator[Path]:
    """The groups this process is in, each with those above it, of which the narrowest counts."""
    yield groups
    with contextlib.suppress(OSError):
        for line in told.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "memory" not in controllers.split(","):
                continue
            folder = (groups / "memory" if controllers else groups) / path.strip("/")
            yield from (above for above in (folder, *folder.parents) if above.is_relative_to(groups))


def _kept_files(stat: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        table = _table(stat)
        return sum(table.get(name, 0) for name in ("inactive_file", "active_file"))
    return 0


def _table(path: Path) -> dict[str, int]:
    """The numbers of a file with a name and a number in each line."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1}
