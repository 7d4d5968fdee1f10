"""The window: two looks at counters, and everything else worked out afterwards. No thread, no socket, no subprocess.

    with meter(place="FRA") as m:
        work()
    m.reading.joules

Windows nest. Two windows of one process that are open at once without one being inside the other both count the same
CPU seconds, so both are flagged `overlaps`.
"""

import functools
import inspect
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from niwaki.core.errors import UsageError
from niwaki.core.system import load_average
from niwaki.meter import reader as sources
from niwaki.meter.account import account
from niwaki.meter.carbon import Grid, grid, pue_of
from niwaki.meter.counters import cpu_seconds
from niwaki.meter.machine import Host, vcpus
from niwaki.meter.money import Price
from niwaki.meter.money import price as price_of
from niwaki.meter.reading import Reading

SomeFunction = TypeVar("SomeFunction", bound=Callable[..., Any])

_open: "list[Window]" = []  # of all threads, to see who overlaps whom
_lock = threading.Lock()


def _forget() -> None:
    """In a forked child: the parent's windows are not the child's, and its lock may be held by a thread left behind."""
    global _lock
    _lock = threading.Lock()
    _open.clear()


os.register_at_fork(after_in_child=_forget)


@dataclass(frozen=True)
class Snapshot:
    """The counters at one moment."""

    pid: int
    at: float
    cpu: float
    load: float | None
    host: Host | None
    counters: tuple[Any, ...]  # one snapshot per chosen reader


class ReaderSet:
    """The readers of this process: chosen at the first window, because liveness checks cost some 100 ms."""

    def __init__(self, readers: list[sources.Reader] | None = None) -> None:
        self._given = readers
        self._chosen: list[sources.Reader] | None = None
        self.passed: dict[str, str] = {}
        self._look_at_host = Host.recent
        self._lock = threading.Lock()

    @property
    def chosen(self) -> list[sources.Reader]:
        if self._chosen is None:
            with self._lock:
                if self._chosen is None:
                    candidates = sources.all_readers() if self._given is None else self._given
                    chosen, self.passed = sources.choose(candidates)
                    self._look_at_host = Host.now if any(r.needs_host for r in chosen) else Host.recent
                    self._chosen = chosen  # last: another thread that sees it needs the rest as well
        return self._chosen

    def snapshot(self) -> Snapshot:
        counters = tuple([_snapshot(reader) for reader in self.chosen])
        return Snapshot(os.getpid(), time.perf_counter(), cpu_seconds(), load_average(), self._look_at_host(), counters)


def _snapshot(reader: sources.Reader) -> Any:
    try:
        return reader.snapshot()
    except (OSError, ValueError):  # a counter that goes away must not end the work that is metered
        return sources.LOST


DEFAULT = ReaderSet()


class Window:
    """An open or closed window. `reading` is there once it is closed, also when the body raised."""

    def __init__(self, grid: Grid | None, pue: float, price: Price | None, sources: ReaderSet) -> None:
        self.grid, self.pue, self.price, self.sources = grid, pue, price, sources
        self.overlaps = False
        self._thread = 0
        self._before: Snapshot | None = None
        self._after: Snapshot | None = None
        self._reading: Reading | None = None

    def __enter__(self) -> "Window":
        if self._before is not None:
            raise UsageError("meter: this window was used before; call meter() again for a new one")
        self.sources.chosen  # noqa: B018 - the first choice spins to see counters move: not the body's work
        self._thread = threading.get_ident()
        with _lock:
            for other in _open:
                if other._thread != self._thread:
                    other.overlaps = self.overlaps = True
            _open.append(self)
        self._before = self.sources.snapshot()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._after = self.sources.snapshot()
        with _lock:
            if self not in _open:  # carried through fork()
                return
            place = _open.index(self)
            del _open[place]
            for later in _open[place:]:  # opened after this one and still open: neither is inside the other
                later.overlaps = self.overlaps = True

    def peek(self) -> Reading:
        """The reading so far, the window staying open: for heartbeats. Also keeps counters that wrap around honest."""
        if self._before is None:
            raise UsageError("meter: the window is not open; use it in a `with` statement")
        return self._account(self._before, self.sources.snapshot())

    @property
    def reading(self) -> Reading:
        if self._before is None or self._after is None:
            raise UsageError("meter: the reading is there after the window has closed; `peek()` gives it so far")
        if self._reading is None:
            self._reading = self._account(self._before, self._after)
        return self._reading

    def _account(self, before: Snapshot, after: Snapshot) -> Reading:
        return account(self, before, after, vcpus())

    def __call__(self, function: SomeFunction) -> SomeFunction:
        """As a decorator: a fresh window per call; `function.reading` is the last call's, `function.total` the sum."""
        return _decorate(function, lambda: Window(self.grid, self.pue, self.price, self.sources))


@overload
def meter(function: SomeFunction, /) -> SomeFunction: ...


@overload
def meter(
    *,
    place: str | float | None = None,
    pue: str | float | None = None,
    price: str | float | Price | None = None,
    readers: ReaderSet | None = None,
) -> Window: ...


def meter(
    function: Any = None,
    /,
    *,
    place: str | float | None = None,  # ISO 3166 code, country name, or own g CO2e/kWh
    pue: str | float | None = None,  # number or name in tables/pue.csv
    price: str | float | Price | None = None,  # dollars per vCPU-hour or name in tables/prices.csv
    readers: ReaderSet | None = None,  # other power sources than the ones found here
) -> Any:
    """A window that meters its body: `with meter() as m:`, `@meter` or `@meter(place="FRA")`."""
    window = Window(
        None if place is None else grid(place, pue),
        pue_of(pue),
        None if price is None else price_of(price),
        readers or DEFAULT,
    )
    return window if function is None else window(function)


def _decorate(function: Any, fresh: Callable[[], Window]) -> Any:
    def keep(window: Window) -> None:
        wrapper.reading = window.reading
        wrapper.total += window.reading

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        window = fresh()
        try:
            with window:
                return function(*args, **kwargs)
        finally:
            keep(window)

    @functools.wraps(function)
    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        window = fresh()
        try:
            with window:
                return await function(*args, **kwargs)
        finally:
            keep(window)

    wrapper: Any = coroutine if inspect.iscoroutinefunction(function) else plain
    wrapper.reading, wrapper.total = None, Reading.zero()
    return wrapper
