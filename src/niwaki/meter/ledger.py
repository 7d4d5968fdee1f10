"""Every joule and second spent, one line each: failed, repeated and killed work included.

    with Ledger(path).begin(stage="student", key=key, what="train") as attempt:
        for batch in batches:
            ...
            attempt.beat()  # cheap; writes a line now and then

`begin` writes a line before the work, `beat` what was spent so far, the end a charge. A begin that was never closed and
whose process is gone was killed: it is charged with its last beat. Lines are only ever added.
"""

import contextlib
import csv
import io
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from niwaki.core.errors import UsageError, did_you_mean
from niwaki.core.files import append_line, read_lines
from niwaki.core.json_types import Json
from niwaki.meter.owner import is_gone, owner
from niwaki.meter.reading import Reading
from niwaki.meter.window import Window, meter

STATUSES = ("done", "failed", "interrupted", "killed")
GROUPS = ("stage", "month", "what", "status", "key", "run")
COLUMNS = ("time", "run", "stage", "key", "what", "status")
FIGURES = ("seconds", "cpu_seconds", "joules", "joules_low", "joules_high", "marginal_joules", "tier", "source")
MONEY = ("co2e_grams", "usd")
NEEDED = {  # what a line of each kind must have
    "begin": {"id", "time", "owner"},
    "beat": {"id", "time", "reading"},
    "charge": {"id", "time", "reading", "status"},
}


@dataclass(frozen=True)
class Total:
    """The sum of some charges. With `unknown` charges the joules are a lower bound, and shown as one."""

    charges: int = 0
    unknown: int = 0  # charges whose joules nobody knows
    known: Reading = field(default_factory=Reading.zero)
    unmeasured: Reading = field(default_factory=Reading.zero)  # sum of the unknown ones: their seconds are known
    statuses: dict[str, int] = field(default_factory=dict)

    def plus(self, line: Json) -> "Total":
        reading = Reading.from_dict(line["reading"])
        statuses = {**self.statuses, line["status"]: self.statuses.get(line["status"], 0) + 1}
        if reading.joules is None:
            return Total(self.charges + 1, self.unknown + 1, self.known, self.unmeasured + reading, statuses)
        return Total(self.charges + 1, self.unknown, self.known + reading, self.unmeasured, statuses)

    @property
    def reading(self) -> Reading:
        if not self.unknown:
            return self.known
        if self.unknown == self.charges:
            return self.unmeasured
        # what is known is a lower bound of the joules; the seconds are whole
        seconds, cpu_seconds = (
            getattr(self.known, key) + getattr(self.unmeasured, key) for key in ("seconds", "cpu_seconds")
        )
        detail = {**self.known.detail, "unknown_charges": self.unknown}
        return replace(self.known, seconds=seconds, cpu_seconds=cpu_seconds, detail=detail)

    def to_dict(self) -> Json:
        figures = {key: getattr(self.reading, key) for key in (*FIGURES, *MONEY)}
        return {"charges": self.charges, "unknown": self.unknown, "statuses": self.statuses, **figures}


class Ledger:
    """One ledger file. Opening it writes nothing; a read-only one can be summed."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def charge(
        self, *, stage: str, key: str = "", what: str, status: str = "done", reading: Reading, **extra: object
    ) -> Json:
        """Adds one line for work that is over."""
        if status not in STATUSES:
            raise UsageError(f"status '{status}' is not known{did_you_mean(status, STATUSES)}")
        line = _line("charge", stage, key, what, extra) | {"status": status, "reading": reading.to_dict()}
        append_line(self.path, line)
        return line

    def begin(
        self, *, stage: str, key: str = "", what: str, window: Window | None = None, **extra: object
    ) -> "Attempt":
        """Says that work starts; charges first what a killed process left open."""
        self.recover()
        line = _line("begin", stage, key, what, extra)
        append_line(self.path, {**line, "owner": owner()})
        return Attempt(self, line, window or meter())

    def recover(self) -> list[Json]:
        """Writes the charge of every killed attempt; gives them back."""
        if not self.path.exists():
            return []
        killed = killed_in(_events(self.path))
        for line in killed:
            append_line(self.path, line)
        return killed

    def lines(self) -> list[Json]:
        """All charges, those of killed attempts included whether or not `recover` has written them yet."""
        events = _events(self.path)
        run = self.path.resolve().parent.name
        return [{"run": run, **line} for line in [*charges_in(events).values(), *killed_in(events)]]

    def total(self, by: str | None = None) -> dict[str, Total]:
        """Sums by stage, month, what, status, key or run; `None` gives one sum named "all"."""
        return total_of(self.lines(), by)

    def csv(self) -> str:
        return csv_of(self.lines())


class Attempt:
    """Work under way: a window and its line in the ledger."""

    FIRST_BEAT_SECONDS, LAST_BEAT_SECONDS, PART = 1.0, 30.0, 0.05

    def __init__(self, ledger: Ledger, line: Json, window: Window) -> None:
        self.ledger, self.line, self.window = ledger, line, window
        self.started = self.last_beat = time.perf_counter()
        self.closed = False
        self.with_others: Callable[[Reading], Reading] = lambda own: own  # adds what other processes spent on it
        self.window.__enter__()

    def peek(self) -> Reading:
        """What was spent so far."""
        return self.with_others(self.window.peek())

    def beat(self, *, now: bool = False) -> None:
        """Writes what was spent so far, if that is due: a kill loses a second or 5 % of the work, 30 s at the most."""
        clock = time.perf_counter()
        due = min(self.LAST_BEAT_SECONDS, max(self.FIRST_BEAT_SECONDS, self.PART * (clock - self.started)))
        if now or clock - self.last_beat >= due:
            self.last_beat = clock
            reading = self.peek().to_dict()
            append_line(self.ledger.path, {"event": "beat", "id": self.line["id"], "time": _now(), "reading": reading})

    def end(self, status: str = "done", **extra: object) -> Reading:
        """Closes the window and charges it. A second call changes nothing."""
        if not self.closed:
            self.closed = True
            self.window.__exit__(None, None, None)
            self.reading = self.with_others(self.window.reading)
            line = {**self.line, **extra, "event": "charge", "started": self.line["time"], "time": _now()}
            append_line(self.ledger.path, {**line, "status": status, "reading": self.reading.to_dict()})
        return self.reading

    def __enter__(self) -> "Attempt":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is None:
            self.end("done")
            return
        # anything that is not an Exception (Ctrl-C, exit) was requested and is not a failure
        with contextlib.suppress(OSError):  # a full disk: the error is reported, and the attempt is charged later
            self.end("failed" if issubclass(kind, Exception) else "interrupted", error=kind.__name__)


def charges_in(events: list[Json]) -> dict[str, Json]:
    """Charges by id; the first counts, should two processes have recovered the same killed attempt."""
    found: dict[str, Json] = {}
    for event in events:
        if event.get("event") == "charge":
            found.setdefault(event["id"], event)
    return found


def killed_in(events: list[Json]) -> list[Json]:
    """The charges that attempts whose process is gone still owe."""
    closed = charges_in(events)
    beats = {event["id"]: event for event in events if event.get("event") == "beat"}  # the last one stays
    begun = [event for event in events if event.get("event") == "begin" and event["id"] not in closed]
    gone = [event for event in begun if is_gone(event["owner"], beats.get(event["id"], event)["time"])]
    return [_killed(event, beats.get(event["id"])) for event in gone]


def _killed(begin: Json, beat: Json | None) -> Json:
    line = {key: value for key, value in begin.items() if key != "owner"}
    line |= {"event": "charge", "started": begin["time"], "status": "killed"}
    # without a beat nothing is known of what it spent: a 0 would be a lie
    reading = beat["reading"] if beat else Reading().to_dict()
    return {**line, "time": (beat or begin)["time"], "reading": reading}


def total_of(lines: Iterable[Json], by: str | None = None) -> dict[str, Total]:
    """Sums charges of one or many ledgers."""
    if by is not None and by not in GROUPS:
        raise UsageError(f"by '{by}' is not a way to sum{did_you_mean(by, GROUPS)}")
    sums: dict[str, Total] = {} if by else {"all": Total()}
    for line in lines:
        group = "all" if by is None else line["time"][:7] if by == "month" else str(line.get(by, ""))
        sums[group] = sums.get(group, Total()).plus(line)
    return sums


def csv_of(lines: Iterable[Json]) -> str:
    """One row per charge; what is not known is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, *FIGURES, *MONEY])
    for line in lines:
        figures = (line["reading"].get(key) for key in (*FIGURES, *MONEY))
        writer.writerow([*(line.get(key) for key in COLUMNS), *figures])
    return text.getvalue()


def _line(event: str, stage: str, key: str, what: str, extra: Json) -> Json:
    head = {"event": event, "id": uuid.uuid4().hex, "time": _now(), "stage": stage, "key": key, "what": what}
    return head | {name: value for name, value in extra.items() if name not in head}


def _events(path: Path) -> list[Json]:
    """The lines that are whole; one that is not an event of a ledger (edited by hand, another tool's) is passed over."""
    lines = [line for line in read_lines(path) if isinstance(line, dict)]
    return [line for line in lines if NEEDED.get(line.get("event", ""), {"never"}) <= line.keys()]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
