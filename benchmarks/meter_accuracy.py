"""How far our own meter can be believed: what a window costs, and how often an interval holds a known ratio.

`python benchmarks/meter_accuracy.py windows|intervals|render`. Appends a record to results/windows.jsonl or results/intervals.jsonl
and renders both tables in docs/measuring.md. `intervals` asks the work of ratio two that tests/meter/test_payback.py
measures, in blocks of twenty trials as there, beside neighbours that are nobody's children here.
"""

import itertools
import math
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import records

from niwaki.meter import descendants, meter
from niwaki.meter.compare import interleave, ratio

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measuring.md"
CHILDREN = (0, 1, 2, 4, 8, 16)
BLOCKS, TRIALS, PAIRS = 2, 20, 20
NEIGHBOURS = {"none added": 0, "one, busy all the time": 1, "two, busy all the time": 2}
BUSY = "import time\nend = time.time() + 7200\nwhile time.time() < end: pass"
Records = list[dict[str, Any]]


# -- what a window costs


def windows() -> None:
    one_window()  # the first chooses the readers
    kept, anew = {}, {}
    for count in CHILDREN:
        with ExitStack() as alive:
            for _ in range(count):
                alive.enter_context(waiting())
            time.sleep(0.1)
            kept[count] = microseconds()
            with without_number():
                anew[count] = microseconds(20)
    records.append("windows", {"kept": kept, "anew": anew, **records.circumstances()})


def microseconds(batches: int = 60, calls: int = 200) -> dict[str, float]:
    """CPU time of a window: median and best of the batches."""
    costs = []
    for _ in range(batches):
        start = time.thread_time()
        for _ in range(calls):
            one_window()
        costs.append((time.thread_time() - start) / calls * 1e6)
    return {"median": statistics.median(costs), "least": min(costs)}


def one_window() -> None:
    with meter():
        pass


@contextmanager
def waiting() -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE)
    try:
        yield
    finally:
        process.communicate(b"\n")


@contextmanager
def without_number() -> Iterator[None]:
    """As on a kernel that does not tell the last number: every look lists all children."""
    known, descendants.LAST_NUMBER = descendants.LAST_NUMBER, "/proc/none"
    try:
        yield
    finally:
        descendants.LAST_NUMBER = known


# -- how often an interval holds


def once() -> int:
    return sum(i * i for i in range(250_000))


def twice() -> int:
    return once() + once()


def intervals(*names: str) -> None:
    """A record for each kind of neighbours, as soon as it is made: on a busy machine all of them take half an hour."""
    for name in names or NEIGHBOURS:
        with ExitStack() as beside:
            for _ in range(NEIGHBOURS[name]):
                beside.enter_context(neighbour())
            blocks = [[trial() for _ in range(TRIALS)] for _ in range(BLOCKS)]
            found = {"neighbours": name, "trials": TRIALS, "pairs": PAIRS, **summary(blocks)}
            records.append("intervals", {**found, "load": os.getloadavg()[0], **records.circumstances()})


def trial() -> dict[str, float]:
    before, after = interleave(twice, once, PAIRS)
    found = ratio(before, after)
    off = [math.log(one / other / 2) for one, other in zip(before, after, strict=True)]
    middle = statistics.quantiles(off, n=10)
    cut = [min(max(value, middle[1]), middle[-2]) for value in off]  # the middle six tenths, about the truth
    follow = sum(one * other for one, other in itertools.pairwise(cut)) / sum(value * value for value in cut)
    return {"value": found.value, "low": found.low, "high": found.high, "follow": follow}


def summary(blocks: list[Records]) -> dict[str, Any]:
    every = [found for block in blocks for found in block]
    off = [found["value"] / 2 - 1 for found in every]
    return {
        "held": [sum(found["low"] <= 2 <= found["high"] for found in block) for block in blocks],
        "width": statistics.median((found["high"] - found["low"]) / 2 for found in every),
        "narrowest": min((found["high"] - found["low"]) / 2 for found in every),
        "off": statistics.mean(off),
        "off_error": statistics.stdev(off) / math.sqrt(len(off)),
        "follow": statistics.mean(found["follow"] for found in every),
    }


@contextmanager
def neighbour() -> Iterator[None]:
    """A process started by one that ends at once, so that the meter does not take it for ours."""
    starter = "import subprocess as s, sys; print(s.Popen(sys.argv[1:], stdout=s.DEVNULL, stderr=s.DEVNULL).pid)"
    command = [sys.executable, "-c", starter, sys.executable, "-c", BUSY]
    pid = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)


# -- the page


def window_table(rows: Records) -> str:
    kept, anew = rows[-1]["kept"], rows[-1]["anew"]
    return "\n".join(
        [
            f"| live children | {' | '.join(kept)} |",
            f"|---{'|---' * len(kept)}|",
            f"| µs a window | {' | '.join(format(cost['median'], '.0f') for cost in kept.values())} |",
            f"| when every look lists them anew | {' | '.join(format(cost['median'], '.0f') for cost in anew.values())} |",
            "",
            note(rows[-1]),
        ]
    )


def interval_table(rows: Records) -> str:
    newest = {row["neighbours"]: row for row in rows}
    head = ["| neighbours | load | held | interval wide | narrowest | ratio off by |", "|---|---|---|---|---|---|"]
    lines = [interval_line(newest[name]) for name in NEIGHBOURS if name in newest]
    return "\n".join([*head, *lines, "", note(rows[-1])])


def interval_line(row: dict[str, Any]) -> str:
    held = " and ".join(map(str, row["held"]))
    off = f"{100 * row['off']:+.2f} % ± {100 * row['off_error']:.2f}"
    return f"| {row['neighbours']} | {row['load']:.1f} | {held} of 20 | {row['width']:.1%} | {row['narrowest']:.1%} | {off} |"


def note(row: dict[str, Any]) -> str:
    here = row["machine"]
    name = f"{here['cpu']} (family {here['family']}, model {here['model']}{', virtual' if here['virtualised'] else ''})"
    return f"{row['time'][:10]}, {here['vcpus']} vCPUs of {name}, load {here['load']:.1f} at the end."


TABLES = {"windows": window_table, "intervals": interval_table}


def rendered(name: str) -> str:
    begin, end = marks(name)
    return f"{begin}\n{TABLES[name](records.read(name))}\n{end}"


def marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def render() -> None:
    for name in TABLES:
        begin, end = marks(name)
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
        if records.read(name) and rest:
            PAGE.write_text(head + rendered(name) + rest.partition(end)[2], encoding="utf-8")


def main(verb: str, *names: str) -> None:
    {"windows": windows, "intervals": intervals, "render": lambda: None}[verb](*names)
    render()


if __name__ == "__main__":
    main(*sys.argv[1:])
