"""Whether the process that started some work still runs, judged from what it recorded about itself."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from niwaki.core.json_types import Json

SILENCE_SECONDS = 24 * 3600  # a process that cannot be seen from here is given up after a day without a beat


def owner() -> Json:
    """This process, so that another can tell later whether it lives: a number alone is soon given to somebody else."""
    return {"node": platform.node(), "boot": _boot(), "space": _space(), "pid": os.getpid(), "born": _born(os.getpid())}


def is_gone(record: Json, last_sign: str) -> bool:
    if record["node"] == platform.node() and record["boot"] != _boot():
        return True  # this machine was started anew since
    if record["boot"] == _boot() and record["space"] == _space():
        return _born(record["pid"]) != record["born"]
    silent = datetime.now(UTC) - datetime.fromisoformat(last_sign)
    return silent.total_seconds() > SILENCE_SECONDS  # another machine or container: its processes are not seen here


def _boot() -> str:
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else ""


def _space() -> str:
    """The process-number space: two containers of one machine both have a process 7."""
    path = Path("/proc/self/ns/pid")
    return str(path.readlink()) if path.is_symlink() else ""


def _born(pid: int) -> int | None:
    """Start time of a process in ticks since boot; None when there is none, or only its corpse."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if after_name[0] in "ZX" else int(after_name[19])
