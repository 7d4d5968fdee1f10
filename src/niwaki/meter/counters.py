"""CPU seconds of this process and everything it started, from the kernel's own counters: no thread, no subprocess.

Total = own + reaped children + live descendants. A child that was alive at the start and reaped before the end moves
from the third term to the second with all its seconds, so the difference stays right.
Not seen: a grandchild whose parent has died (the kernel gives it to init) and children of who ignores SIGCHLD.
"""

import contextlib
import os
import resource
import time

TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
CAN_LOOK = hasattr(os, "waitid")  # not on every macOS; live children are seen on Linux only
LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT if CAN_LOOK else 0


def cpu_seconds() -> float:
    """CPU seconds used so far by this process tree."""
    own = _seconds(resource.RUSAGE_SELF)
    if not has_children():
        return own + _seconds(resource.RUSAGE_CHILDREN)
    while True:  # a child reaped by another thread between the two reads would be counted twice or not at all
        reaped = _seconds(resource.RUSAGE_CHILDREN)
        live = live_seconds(os.getpid())
        if reaped == _seconds(resource.RUSAGE_CHILDREN):
            return own + reaped + live


def _seconds(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def has_children() -> bool:
    """One system call that reaps nobody: walking /proc in every window would cost more than the window may."""
    if not CAN_LOOK:
        return False
    try:
        os.waitid(os.P_ALL, 0, LOOK)
    except ChildProcessError:
        return False
    return True


def live_seconds(pid: int) -> float:
    """CPU seconds of all live (or not yet reaped) descendants of `pid`, with the children those have reaped."""
    return sum(_tree_seconds(child) for child in children_of(pid))


def _tree_seconds(pid: int) -> float:
    with contextlib.suppress(OSError):  # it ended between the listing and the reading
        return process_seconds(pid) + _reaped_by(pid) + live_seconds(pid)
    return 0.0


def process_seconds(pid: int) -> float:
    """The process's CPU clock: nanoseconds, where /proc/<pid>/stat has ticks of 10 ms."""
    return time.clock_gettime((~pid << 3) | 2)  # the kernel's MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED)


def _reaped_by(pid: int) -> float:
    after_name = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return (int(after_name[13]) + int(after_name[14])) * TICK_SECONDS  # cutime, cstime


def children_of(pid: int) -> list[int]:
    """Direct children, whichever thread started them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - a third of pathlib's time
            with contextlib.suppress(OSError):
                found += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return found


def _read(path: str) -> bytes:
    """A small file of /proc in three system calls: these reads are most of what a window with live children costs."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(handle, 65536)
    finally:
        os.close(handle)
