"""CPU seconds of everything this process started and that still lives (or is not yet reaped), from /proc.

Listing the tree costs some 20 µs a process, more than a window may. So the list is kept as long as nobody can have
joined it: the kernel numbers processes and threads upwards, and while its last number has not moved none was started.
What a childless process had reaped cannot change either, so such a one costs one reading of its CPU clock.
"""

import contextlib
import os
import time
from dataclasses import dataclass

from niwaki.core.system import TICK_SECONDS

LAST_NUMBER = (
    "/proc/sys/kernel/ns_last_pid"  # of this process-number space; a kernel without it has every look list anew
)
# A number is given a moment before its process can be seen, so a list is kept only if it was made this long after
# the number was first met. Should a start take longer, the process is seen, with all it used, at the next listing.
SETTLE_SECONDS = 0.01
KEEP_SECONDS = 1.0  # numbers come round again after pid_max: a list that is older is made anew


@dataclass(frozen=True)
class Member:
    """A process as it was when the tree was listed."""

    pid: int
    reaped: float  # CPU seconds of the children it has reaped
    has_children: bool


@dataclass(frozen=True)
class Tree:
    """All descendants of `root`, listed when `last_number` had been standing still for `stable_seconds` seconds."""

    root: int
    last_number: int
    stable_seconds: float
    listed_at: float
    members: tuple[Member, ...]

    def is_current(self, root: int, last_number: int, now: float) -> bool:
        fresh = self.stable_seconds >= SETTLE_SECONDS and now - self.listed_at < KEEP_SECONDS
        return fresh and self.root == root and self.last_number == last_number

    def seconds(self) -> float | None:
        """None when the tree has changed: somebody was reaped, or died and gave its children away."""
        total = 0.0
        try:
            for member in self.members:
                total += process_seconds(member.pid)
                total += _reaped_by_living(member.pid) if member.has_children else member.reaped
        except OSError:
            return None
        return total


_tree: Tree | None = None
_met = (0, 0.0)  # the last number, and when it was first met


def live_seconds(root: int) -> float:
    """CPU seconds of all live descendants of `root`, with the children those have reaped."""
    global _tree, _met
    last_number, now, cached = _last_number(), time.perf_counter(), _tree
    if last_number is None:
        return sum(_seconds(member) for member in _listed(root))
    if cached is not None and cached.is_current(root, last_number, now) and (found := cached.seconds()) is not None:
        return found
    if _met[0] != last_number:
        _met = (last_number, now)
    _tree = tree = Tree(root, last_number, now - _met[1], now, tuple(_listed(root)))
    return sum(_seconds(member) for member in tree.members)


def _last_number() -> int | None:
    try:
        return int(_read(LAST_NUMBER))
    except (OSError, ValueError):
        return None


def _seconds(member: Member) -> float:
    with contextlib.suppress(OSError):  # reaped since the listing: its parent's sum has it
        return process_seconds(member.pid) + member.reaped
    return 0.0


def process_seconds(pid: int) -> float:
    """The process's CPU clock: nanoseconds, where /proc/<pid>/stat has ticks of 10 ms."""
    return time.clock_gettime((~pid << 3) | 2)  # the kernel's MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED)


def _listed(pid: int, threads: int = 0) -> list[Member]:
    """All descendants of a process; `threads` is how many it has, 0 when that is not known."""
    found: list[Member] = []
    for child in children_of(pid, threads):
        with contextlib.suppress(OSError):  # it ended between the listing and the reading
            _, reaped, count = _stat(child)
            below = _listed(child, count)
            found += [Member(child, reaped, bool(below)), *below]
    return found


def children_of(pid: int, threads: int = 0) -> list[int]:
    """Direct children, whichever thread started them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        tasks = [pid] if threads == 1 else os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - a third of pathlib's time
        for task in tasks:
            with contextlib.suppress(OSError):
                found += map(int, _read(f"/proc/{pid}/task/{task}/children").split())
    return found


def _reaped_by_living(pid: int) -> float:
    state, reaped, _ = _stat(pid)
    if state in b"ZX":
        raise ProcessLookupError(f"{pid}: has ended, and its children have another parent")
    return reaped


def _stat(pid: int) -> tuple[bytes, float, int]:
    """State, CPU seconds of reaped children and number of threads."""
    after_name = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return after_name[0], (int(after_name[13]) + int(after_name[14])) * TICK_SECONDS, int(after_name[17])


def _read(path: str) -> bytes:
    """A small file of /proc in three system calls: these reads are most of what a listing costs."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(handle, 65536)
    finally:
        os.close(handle)
