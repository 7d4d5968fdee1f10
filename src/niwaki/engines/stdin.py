"""Standard input that can be given up: who waits for a line that never comes looks up now and then whether it is still wanted."""

import io
import os
import select
import sys
from collections.abc import Callable
from typing import Any

LOOK_UP_SECONDS = 0.1


def stdin(over: Callable[[], bool]) -> Any:
    """Its bytes as a file, which ends where `over` says so."""
    try:
        return io.BufferedReader(InterruptibleStdin(sys.stdin.fileno(), over))
    except io.UnsupportedOperation:  # what a program put in its place
        return getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode("utf-8", "surrogatepass"))


class InterruptibleStdin(io.RawIOBase):
    """Reads what a descriptor has, and waits for it without holding on to it."""

    def __init__(self, descriptor: int, over: Callable[[], bool]) -> None:
        self.descriptor, self.over = descriptor, over

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self.over():
            if select.select([self.descriptor], [], [], LOOK_UP_SECONDS)[0]:
                part = os.read(self.descriptor, len(room))
                room[: len(part)] = part
                return len(part)
        return 0
