"""What a person sees while work goes on: stderr only, a bar on a terminal, plain lines elsewhere."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from niwaki.core.redaction import redact

LINE_EVERY_SECONDS = 10.0
_quiet = False


def quiet(value: bool = True) -> None:
    """Silences everything below errors, for `--quiet` and for tests."""
    global _quiet
    _quiet = value


@contextlib.contextmanager
def silenced(value: bool = True) -> Iterator[None]:
    """`quiet` for a while, for calls from Python that should not print."""
    before = _quiet
    quiet(before or value)
    try:
        yield
    finally:
        quiet(before)


def info(text: str) -> None:
    if not _quiet:
        sys.stderr.write(redact(text) + "\n")
        sys.stderr.flush()


@contextlib.contextmanager
def progress(label: str, total: int, done: int = 0) -> Iterator[Callable[[int, str], None]]:
    """Gives `update(done, remark)`. Shows the share done, the time left and the remark."""
    if _quiet:
        yield lambda done, remark: None
    elif sys.stderr.isatty():
        yield from _bar(label, total, done)
    else:
        yield _lines(label, total, done)


def _bar(label: str, total: int, done: int) -> Iterator[Callable[[int, str], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[remark]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total, completed=done, remark="")
        yield lambda done, remark: bar.update(task, completed=done, remark=remark)


def _lines(label: str, total: int, start: int) -> Callable[[int, str], None]:
    began = last = time.monotonic()

    def update(done: int, remark: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_EVERY_SECONDS and done > start:
            last = now
            left = (now - began) / (done - start) * (total - done)
            info(f"{label}: {done}/{total}, about {left:.0f} s left  {remark}")

    return update
