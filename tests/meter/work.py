"""Work of a known size for the tests: CPU seconds counted by another clock than the meter's."""

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

TICKS = 0.02  # the kernel counts the time of other processes in steps of 10 ms
BURN = """
import time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
"""
PYTHON = [sys.executable, "-I", "-S", "-c"]  # no site packages: starts in some 10 ms


def burn(cpu_seconds: float) -> None:
    """Uses the processor until this thread's own clock has moved by `cpu_seconds`."""
    end = time.thread_time() + cpu_seconds
    while time.thread_time() < end:
        pass


class KernelClock:
    """CPU seconds of this process and of the children that it reaped, as the kernel counts them: no window inside can hold more."""

    def __enter__(self) -> "KernelClock":
        self._start = _kernel_seconds()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = _kernel_seconds() - self._start


def _kernel_seconds() -> float:
    usages = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def child(code: str) -> "subprocess.Popen[str]":
    """A Python child with `burn` at hand and pipes to talk to it."""
    return subprocess.Popen([*PYTHON, BURN + code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@contextmanager
def waiting_child(code: str) -> Iterator["subprocess.Popen[str]"]:
    """A child that runs `code`, prints a line, and then waits for a line."""
    process = child(code + "\nprint('ready', flush=True)\ninput()")
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.communicate("go\n" if process.poll() is None else None)


@contextmanager
def busy_neighbour(seconds: float) -> Iterator[None]:
    """Another process that keeps a processor busy, and is nobody's child here: its parent is gone at once."""
    neighbour = f"import time\nend = time.time() + {seconds}\nwhile time.time() < end: pass"
    starter = (
        "import subprocess as s, sys\n"
        "print(s.Popen([sys.executable, '-c', sys.argv[1]], stdout=s.DEVNULL, stderr=s.DEVNULL).pid)"
    )
    pid = int(subprocess.run([*PYTHON, starter, neighbour], capture_output=True, text=True, check=True).stdout)
    try:
        yield
    finally:
        subprocess.run(["kill", str(pid)], check=False, capture_output=True)
