"""How much memory can still be taken: of the machine, of the group (container, job of a cluster) that limits this process, and of
its own address space (`ulimit -v`). And which errors mean that there was not enough.

The page cache counts as used in a control group, but the system frees it on demand, so it is counted as free here.
"""

import contextlib
import errno
import re
from collections.abc import Iterator
from pathlib import Path

from niwaki.core.system import address_space_limit

SHORT = re.compile(
    r"(?i)failed to map segment|(?:can't|cannot|could not|failed to) (?:\w+ )?allocate|bad_alloc|bad allocation|not enough memory|out of memory"
)  # how loaders of libraries, torch and ONNX Runtime say it
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
        for most, taken in FILES.items():
            with contextlib.suppress(OSError, ValueError):
                cached = _cached_files(folder / "memory.stat")
                found.append(int((folder / most).read_text()) - int((folder / taken).read_text()) + cached)
    with contextlib.suppress(OSError):
        limit, used = (
            address_space_limit(),
            re.search(r"^VmSize:\s*(\d+) kB", (proc / "self" / "status").read_text(), re.M),
        )
        if limit is not None and used is not None:
            found.append(limit - 1024 * int(used[1]))
    return max(0, min(found)) if found else None


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether memory ran out behind an error: in it, or in what was being handled when it was raised."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM or SHORT.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def _folders(membership: Path, groups: Path) -> Iterator[Path]:
    """The groups this process is in, each with those above it, of which the narrowest counts."""
    yield groups
    with contextlib.suppress(OSError):
        for line in membership.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "memory" not in controllers.split(","):
                continue
            folder = (groups / "memory" if controllers else groups) / path.strip("/")
            yield from (above for above in (folder, *folder.parents) if above.is_relative_to(groups))


def _cached_files(stat: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        table = _table(stat)
        return sum(table.get(name, 0) for name in ("inactive_file", "active_file"))
    return 0


def _table(path: Path) -> dict[str, int]:
    """The numbers of a file with a name and a number in each line."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1}
