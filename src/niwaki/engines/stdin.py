"""Standard input that can be interrupted: a reader that waits for a line checks regularly whether to stop."""

import io
import os
import select
import sys
from collections.abc import Callable
from typing import Any

POLL_SECONDS = 0.1


def stdin(over: Callable[[], bool]) -> Any:
    """Standard input as a binary file, which ends when `over` returns True."""
    try:
        if sys.platform == "win32":  # select is for sockets only
            return sys.stdin.buffer
        return io.BufferedReader(InterruptibleStdin(sys.stdin.fileno(), over))
    except io.UnsupportedOperation:  # a program has replaced sys.stdin
        return getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode("utf-8", "surrogatepass"))


class InterruptibleStdin(io.RawIOBase):
    """Reads from a descriptor, and waits for it at most POLL_SECONDS at a time."""

    def __init__(self, descriptor: int, over: Callable[[], bool]) -> None:
        self.descriptor, self.over = descriptor, over

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self.over():
            if select.select([self.descriptor], [], [], POLL_SECONDS)[0]:
                part = os.read(self.descriptor, len(room))
                room[: len(part)] = part
                return len(part)
        return 0
