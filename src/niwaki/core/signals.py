"""Ctrl-C and SIGTERM asked for politely: the first is remembered until work can be saved, the second stops at once."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from niwaki.core.log import say


@contextlib.contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Gives a function that tells whether a stop was asked for. Elsewhere than in the main thread nothing is caught."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def remember(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        say("stopping as soon as the work is saved; once more to stop at once")

    before = {number: signal.signal(number, remember) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
