"""CPU seconds of this process and everything it started, from the kernel's own counters: no thread, no subprocess.

Total = own + reaped children + live descendants. A child that was alive at the start and reaped before the end moves
from the third term to the second with all its seconds, so the difference stays right.
Not seen: a grandchild whose parent has died (the kernel gives it to init) and children of who ignores SIGCHLD.
"""

import os
import resource

from niwaki.meter.descendants import TICK_SECONDS, live_seconds

__all__ = ["TICK_SECONDS", "cpu_seconds", "has_children"]
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
    """One system call that reaps no process: the rest is read only if there are child processes."""
    if not CAN_LOOK:
        return False
    try:
        os.waitid(os.P_ALL, 0, LOOK)
    except ChildProcessError:
        return False
    return True
