"""What not every operating system has, each with a portable fallback. No other module imports fcntl, resource or msvcrt.

niwaki is developed on Linux. macOS lacks /proc and processor affinity; Windows also lacks POSIX locks, resource limits, interval
timers and folders that can be opened.
"""

import os
import signal
import sys
import time
from types import ModuleType
from typing import IO

fcntl: ModuleType | None
resource: ModuleType | None
try:
    import fcntl
    import resource
except ImportError:  # Windows
    fcntl = resource = None

HAS_OPEN_FOLDERS = os.open in os.supports_dir_fd  # files can be opened relative to an open folder
# flags of os.open: bytes as they are; never through a link, never waiting for a pipe, not inherited
BINARY = getattr(os, "O_BINARY", 0)
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
PRIVATE = BINARY | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | NO_FOLLOW
ALARM: int | None = getattr(signal, "SIGALRM", None)
TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01  # of the kernel's counters


def usable_cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_average() -> float | None:
    """Processes that ran or waited for a core during the last minute; None if the system does not count them."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def memory_bytes() -> int | None:
    """The memory of the machine; None if the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def user_id() -> int:
    """As in `st_uid`, which is 0 for every file on Windows."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def address_space_limit() -> int | None:
    """The bytes that this process may map (`ulimit -v`); None without a limit."""
    if resource is None:
        return None
    limit: int = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def limit_process(limits: dict[str, int]) -> None:
    """Lowers limits of this process by name, e.g. RLIMIT_AS. Limits that the system does not have, or has lower, stay."""
    for name, most in limits.items():
        if resource is not None and hasattr(resource, name):
            try:
                resource.setrlimit(getattr(resource, name), (most, most))
            except (ValueError, OSError):
                continue


def own_cpu_seconds() -> float:
    return time.process_time() if resource is None else _cpu_seconds(resource.RUSAGE_SELF)


def reaped_cpu_seconds() -> float:
    """CPU seconds of the child processes that have ended and were waited for."""
    return 0.0 if resource is None else _cpu_seconds(resource.RUSAGE_CHILDREN)


def _cpu_seconds(who: int) -> float:
    assert resource is not None
    usage = resource.getrusage(who)
    return float(usage.ru_utime + usage.ru_stime)


def lock(file: int | IO[bytes], shared: bool = False, wait: bool = True) -> None:
    """Locks an open file until it is closed. BlockingIOError if it is locked and `wait` is False."""
    if fcntl is not None:
        how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(file, how if wait else how | fcntl.LOCK_NB)
    elif sys.platform == "win32":
        _lock_first_byte(file if isinstance(file, int) else file.fileno(), wait)


def _lock_first_byte(handle: int, wait: bool) -> None:
    """On Windows, where a locked byte cannot be read by others: so one far behind the end is locked, which is allowed."""
    import msvcrt

    position = os.lseek(handle, 0, os.SEEK_CUR)
    while True:
        os.lseek(handle, 1 << 30, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            return
        except OSError as error:
            if not wait:
                raise BlockingIOError(error.errno, "is locked by another process") from None
            time.sleep(0.05)
        finally:
            os.lseek(handle, position, os.SEEK_SET)


def set_alarm(seconds: float, interval: float = 0.0) -> None:
    """Sends ALARM to this process after some seconds and then at every interval; 0 stops it. Does nothing without timers."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds, interval)


def flush(path: os.PathLike[str]) -> None:
    """Forces a file, or the entries of a folder, to the disk. Windows cannot flush folders, and needs no such call."""
    if not HAS_OPEN_FOLDERS and os.path.isdir(path):  # noqa: PTH112 - no Path is needed
        return
    handle = os.open(path, os.O_RDONLY if HAS_OPEN_FOLDERS else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def last_byte(handle: int) -> bytes:
    """The last byte of an open file; empty if the file is."""
    size = os.fstat(handle).st_size
    if not size:
        return b""
    os.lseek(handle, size - 1, os.SEEK_SET)
    return os.read(handle, 1)


def raise_open_files() -> None:
    """Allows this process as many open files and connections as the system lets it."""
    if resource is not None:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):
            return
