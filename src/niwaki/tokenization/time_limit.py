"""Work of a library that may not return in time: it runs in a thread, whose processor time is watched.

Processor time, so that a busy machine rejects nothing. The library must release the interpreter's lock while it works, as
tokenizers does. A thread cannot be ended from outside: one that takes too long is abandoned, does no further item when its
call returns, and goes with the process.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from niwaki.core.errors import is_panic

LOOK_SECONDS = 0.02
Item = TypeVar("Item")
Result = TypeVar("Result")
_abandoned: list[threading.Thread] = []
_stderr = threading.RLock()


class TimeLimitExceeded(Exception):
    """An item was not done within its time, or the library gave up on it (a panic). Carries its number."""

    def __init__(self, number: int) -> None:
        super().__init__(f"item {number} took too long")
        self.number = number


def run_within_limit(
    items: Sequence[Item], work: Callable[[Item], Result], seconds: Callable[[Item], float]
) -> list[Result]:
    """`work` of each item in order; TookTooLong where one takes more than its seconds of processor time."""
    worker = _Worker(items, work, seconds)
    worker.start()
    try:
        while not worker.done.wait(LOOK_SECONDS):
            if worker.is_late():
                _abandoned.append(worker)
                raise TimeLimitExceeded(len(worker.results))
    finally:
        worker.left.set()
    if worker.error is not None:
        raise worker.error
    return worker.results


class _Worker(threading.Thread, Generic[Item, Result]):
    def __init__(self, items: Sequence[Item], work: Callable[[Item], Result], seconds: Callable[[Item], float]) -> None:
        super().__init__(daemon=True, name="niwaki-timed")
        self.items, self.work, self.seconds = items, work, seconds
        self.results: list[Result] = []
        self.error: BaseException | None = None
        self.late_at = float("inf")  # on the clock of this thread
        self.done, self.left = threading.Event(), threading.Event()

    def run(self) -> None:
        try:
            for item in self.items:
                if self.left.is_set():
                    return
                self.late_at = _now(threading.get_ident()) + self.seconds(item)
                self.results.append(self.work(item))
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            self.error = TimeLimitExceeded(len(self.results)) if is_panic(error) else error
        finally:
            self.done.set()
            self.left.wait()  # the clock of a thread that ended must not be read

    def is_late(self) -> bool:
        return self.ident is not None and _now(self.ident) > self.late_at


def _now(thread: int) -> float:
    clock = getattr(time, "pthread_getcpuclockid", None)
    return time.clock_gettime(clock(thread)) if clock else time.monotonic()


def end_process(code: int) -> None:
    """Ends a process in which a thread was abandoned. It may return from its library while the interpreter shuts down, which aborts."""
    if any(thread.is_alive() for thread in _abandoned):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(code)


@contextlib.contextmanager
def without_panics() -> Iterator[None]:
    """A library written in Rust prints its panics, which are handled here, to stderr: what is printed meanwhile is held back,
    and printed afterwards where nothing went wrong."""
    if not hasattr(os, "memfd_create"):
        yield
        return
    with _stderr:  # two that exchange it in turns would not put back the right one
        held, stderr, failed = os.memfd_create("stderr"), os.dup(2), True
        os.dup2(held, 2)
        try:
            yield
            failed = False
        finally:
            os.dup2(stderr, 2)
            if not failed:
                os.write(2, os.pread(held, 1 << 20, 0))
            os.close(held)
            os.close(stderr)
