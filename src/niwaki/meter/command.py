"""Any command under a window: what `niwaki measure -- command` does. Here the subprocess is the thing measured."""

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from niwaki.core.errors import UsageError
from niwaki.meter.reading import Reading
from niwaki.meter.window import meter


@dataclass(frozen=True)
class Measured:
    """How a command ended and what it cost, one reading per repeat."""

    command: list[str]
    exit_code: int  # of the first repeat that failed, else 0; 128 + n when signal n ended it
    readings: list[Reading]

    @property
    def total(self) -> Reading:
        return sum(self.readings, Reading.zero())


def measure(command: Sequence[str], repeats: int = 1, **options: Any) -> Measured:
    """Runs `command` with this terminal's input and output; `options` are those of `meter`. Stops at a failure."""
    if not command:
        raise UsageError("measure: no command given; put it after --, as in `niwaki measure -- python job.py`")
    if repeats < 1:
        raise UsageError(f"measure: {repeats} repeats is not a number of runs; give 1 or more")
    readings: list[Reading] = []
    for _ in range(repeats):
        with meter(**options) as window:
            code = _run(list(command))
        readings.append(window.reading)
        if code != 0:
            break
    return Measured(list(command), code, readings)


def _run(command: list[str]) -> int:
    try:
        process = subprocess.Popen(command)
    except OSError as error:
        raise UsageError(f"measure: {command[0]} cannot be started ({error.strerror}); check its name") from None
    # Ctrl-C reaches the command too; wait for how it takes it, so that what it spent is still charged
    old = signal.signal(signal.SIGINT, signal.SIG_IGN) if _in_main_thread() else None
    try:
        code = process.wait()
    finally:
        if old is not None:
            signal.signal(signal.SIGINT, old)
    return code if code >= 0 else 128 - code


def _in_main_thread() -> bool:
    import threading

    return threading.current_thread() is threading.main_thread()
