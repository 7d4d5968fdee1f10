"""Ctrl-C and SIGTERM: request a stop, then interrupt the work, then end the process.

The first signal is remembered, for work that checks it and saves. Whatever has not stopped after GRACE_SECONDS is interrupted
where it is: everything on disk is whole at any time, so nothing is lost but work since the last save. A second signal interrupts at
once. In a process of niwaki's own (`own_process`) a third ends it at once, and so does time: a library's call may not return.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from niwaki.core.log import info
from niwaki.core.system import ALARM, set_alarm

GRACE_SECONDS = 2.0
HARD_SECONDS, AT_ONCE_SECONDS = (
    4.5,
    1.0,
)  # after the first and the second signal the process ends, even in a library's call
INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LINE = b"niwaki: stopped at once; what was saved before counts\n"


class _State:
    """Of this process, not of one `stopping` block."""

    owned = False  # by the program `niwaki`
    raised = False
    saving = 0  # depth of `saving` blocks


@contextlib.contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Yields a function that returns whether a stop was requested. Signals are handled in the main thread only."""
    requested = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield requested.is_set
        return

    def remember(number: int, frame: FrameType | None) -> None:
        if requested.is_set():
            _interrupt(number, frame)
            return
        requested.set()
        info("stopping as soon as the work is saved; once more to stop at once")
        set_alarm(GRACE_SECONDS, 0.1)

    def overdue(number: int, frame: FrameType | None) -> None:
        if not _State.saving:
            set_alarm(0)
            _interrupt(number, frame)

    handlers: dict[int, Callable[[int, FrameType | None], None]] = dict.fromkeys(SIGNALS, remember)
    if ALARM is not None:
        handlers[ALARM] = overdue
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield requested.is_set
    finally:
        set_alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def saving() -> Iterator[None]:
    """What is inside is finished before an overdue stop interrupts; only a second signal breaks it off."""
    _State.saving += 1
    try:
        yield
    finally:
        _State.saving -= 1


def own_process() -> None:
    """Called once by the program: from now on no number of signals shows a traceback, and each stop comes to its end."""
    if _State.owned:
        return
    _State.owned = True
    signal.signal(signal.SIGINT, _interrupt)
    reading, writing = os.pipe()
    if hasattr(os, "set_blocking"):  # on Windows from Python 3.12 on
        os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), daemon=True, name="niwaki-signals").start()


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Once only in the program: another one, raised while the first is handled, would show a traceback. `_watch` ends it then."""
    if not (_State.owned and _State.raised):
        _State.raised = True
        raise KeyboardInterrupt


def _watch(reading: int) -> None:
    """Hears of signals while the main thread is in a call of a library, where no handler runs."""
    received = 0
    while True:
        received += sum(number in SIGNALS for number in os.read(reading, 64))
        if received > 2:
            _end()
        if received:
            seconds = HARD_SECONDS if received == 1 else AT_ONCE_SECONDS
            threading.Thread(target=_end_late, args=(seconds,), daemon=True).start()


def _end_late(seconds: float) -> None:
    time.sleep(seconds)
    while _State.saving:
        time.sleep(0.1)
    _end()


def _end() -> None:
    with contextlib.suppress(OSError):
        os.write(2, _LINE)
    os._exit(INTERRUPTED)
