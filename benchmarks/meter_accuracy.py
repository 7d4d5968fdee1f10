"""Accuracy of niwaki's meter: the cost of a window, and how often an interval contains a known ratio.

`python benchmarks/meter_accuracy.py windows|intervals`. Appends a record to results/windows.jsonl or results/intervals.jsonl, from
which `make results` renders docs/results/metering.md. `intervals` compares two jobs with a known ratio of two, in blocks of twenty trials
as in tests/meter/test_payback.py, while unrelated processes (neighbours) load the machine.
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
from typing import Any

import records

from niwaki.meter import descendants, meter
from niwaki.meter.compare import interleave, ratio

CHILDREN = (0, 1, 2, 4, 8, 16)
BLOCKS, TRIALS, PAIRS = 2, 20, 20
NEIGHBOURS = {"none added": 0, "one, busy all the time": 1, "two, busy all the time": 2}
BUSY = "import time\nend = time.time() + 7200\nwhile time.time() < end: pass"
Records = list[dict[str, Any]]


# -- cost of a window


def windows() -> None:
    one_window()  # the first window selects the readers
    cached, uncached = {}, {}
    for count in CHILDREN:
        with ExitStack() as alive:
            for _ in range(count):
                alive.enter_context(waiting())
            time.sleep(0.1)
            cached[count] = microseconds()
            with without_number():
                uncached[count] = microseconds(20)
    records.append("windows", {"kept": cached, "anew": uncached, **records.circumstances()})


def microseconds(batches: int = 60, calls: int = 200) -> dict[str, float]:
    """CPU time of a window: median and minimum over the batches."""
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
    """Simulates a kernel without `ns_last_pid`: every read lists all children."""
    known, descendants.LAST_NUMBER = descendants.LAST_NUMBER, "/proc/none"
    try:
        yield
    finally:
        descendants.LAST_NUMBER = known


# -- coverage of the interval


def once() -> int:
    return sum(i * i for i in range(250_000))


def twice() -> int:
    return once() + once()


def intervals(*names: str) -> None:
    """Appends a record per number of neighbours as soon as it is measured; on a busy machine all of them take half an hour."""
    for name in names or NEIGHBOURS:
        with ExitStack() as neighbours:
            for _ in range(NEIGHBOURS[name]):
                neighbours.enter_context(neighbour())
            blocks = [[trial() for _ in range(TRIALS)] for _ in range(BLOCKS)]
            found = {"neighbours": name, "trials": TRIALS, "pairs": PAIRS, **summary(blocks)}
            records.append("intervals", {**found, "load": os.getloadavg()[0], **records.circumstances()})


def trial() -> dict[str, float]:
    before, after = interleave(twice, once, PAIRS)
    found = ratio(before, after)
    off = [math.log(one / other / 2) for one, other in zip(before, after, strict=True)]
    middle = statistics.quantiles(off, n=10)
    cut = [min(max(value, middle[1]), middle[-2]) for value in off]  # winsorized to the middle 60 %
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
    """A busy process whose parent ends at once, so that the meter does not count it as a child."""
    starter = "import subprocess as s, sys; print(s.Popen(sys.argv[1:], stdout=s.DEVNULL, stderr=s.DEVNULL).pid)"
    command = [sys.executable, "-c", starter, sys.executable, "-c", BUSY]
    pid = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)


# -- tables in docs/measuring.md


def window_table(rows: Records) -> str:
    cached, uncached = rows[-1]["kept"], rows[-1]["anew"]
    return "\n".join(
        [
            f"| live children | {' | '.join(cached)} |",
            f"|---{'|---' * len(cached)}|",
            f"| µs per window | {' | '.join(format(cost['median'], '.0f') for cost in cached.values())} |",
            f"| µs without the cached list of children | {' | '.join(format(cost['median'], '.0f') for cost in uncached.values())} |",
            "",
            note(rows[-1]),
        ]
    )


def interval_table(rows: Records) -> str:
    newest = {row["neighbours"]: row for row in rows}
    head = [
        "| neighbours | load | contained the true ratio | median width | minimum width | bias of the ratio |",
        "|---|---|---|---|---|---|",
    ]
    lines = [interval_line(newest[name]) for name in NEIGHBOURS if name in newest]
    return "\n".join([*head, *lines, "", note(rows[-1])])


def interval_line(row: dict[str, Any]) -> str:
    covered = " and ".join(map(str, row["held"]))
    bias = f"{100 * row['off']:+.2f} % ± {100 * row['off_error']:.2f}"
    return f"| {row['neighbours']} | {row['load']:.1f} | {covered} of 20 | {row['width']:.1%} | {row['narrowest']:.1%} | {bias} |"


def note(row: dict[str, Any]) -> str:
    here = row["machine"]
    name = f"{here['cpu']} (family {here['family']}, model {here['model']}{', virtual' if here['virtualised'] else ''})"
    return f"{row['time'][:10]}, {here['vcpus']} vCPUs of {name}, load {here['load']:.1f} at the end."


def main(command: str, *names: str) -> None:
    {"windows": windows, "intervals": intervals}[command](*names)


if __name__ == "__main__":
    main(*sys.argv[1:])
