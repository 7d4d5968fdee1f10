"""CPU seconds of this process and everything it started, from the kernel's own counters: no thread, no subprocess.

Total = own + reaped children + live descendants. A child that was alive at the start and reaped before the end moves
from the third term to the second with all its seconds, so the difference stays right.
Not seen: a grandchild whose parent has died (the kernel gives it to init) and children of who ignores SIGCHLD.
"""

import os

from niwaki.core.system import own_cpu_seconds, reaped_cpu_seconds
from niwaki.meter.descendants import live_seconds

CAN_LOOK = hasattr(os, "waitid")  # not on every macOS; live children are seen on Linux only
LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT if CAN_LOOK else 0


def cpu_seconds() -> float:
    """CPU seconds used so far by this process tree."""
    own = own_cpu_seconds()
    if not has_children():
        return own + reaped_cpu_seconds()
    while True:  # a child reaped by another thread between the two reads would be counted twice or not at all
        reaped = reaped_cpu_seconds()
        live = live_seconds(os.getpid())
        if reaped == reaped_cpu_seconds():
            return own + reaped + live


def has_children() -> bool:
    """One system call that reaps no process: the rest is read only if there are child processes."""
    if not CAN_LOOK:
        return False
    try:
        os.waitid(os.P_ALL, 0, LOOK)
    except ChildProcessError:
        return False
    return True
