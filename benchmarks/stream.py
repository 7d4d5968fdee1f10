"""Measures memory and time of predicting files of several sizes: `python benchmarks/stream.py MODEL [COUNTS…]`. Appends to results/stream.jsonl.

Writes generated sentences of 3 to 40 words as JSON lines, and predicts them with `niwaki predict --in --out` in a child process whose
peak resident memory is measured. For the first size, the process is also killed after half of the lines and resumed, and the two output
files are compared.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from records import append, circumstances

from niwaki.engines.partial_folder import STATE, folders_of

WORDS = [
    "the",
    "a",
    "film",
    "plot",
    "actor",
    "scene",
    "story",
    "was",
    "is",
    "very",
    "good",
    "dull",
    "warm",
    "cold",
    "bright",
    "slow",
    "it",
    "with",
    "of",
    "and",
    "an",
    "end",
    "start",
    "never",
    "always",
    "quite",
]
PROGRAM = [sys.executable, "-c", "from niwaki.cli import main; main()"]


def write(path: Path, count: int) -> None:
    draw = random.Random(count)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            text = " ".join(draw.choices(WORDS, k=draw.randint(3, 40)))
            file.write(f"{json.dumps({'id': number, 'text': f'{text} {number}.'})}\n")


def start(model: str, source: Path, out: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [*PROGRAM, "predict", model, "--in", str(source), "--out", str(out), "--quiet"], stdout=subprocess.DEVNULL
    )


def measured(model: str, source: Path, out: Path) -> dict[str, Any]:
    began = time.perf_counter()
    process = start(model, source, out)
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1000,
    }


def killed(model: str, source: Path, out: Path, count: int) -> int:
    """The number of inputs answered when it was killed, after half of them."""
    process = start(model, source, out)
    while process.poll() is None:
        state = next((path for folder in folders_of(out) if (path := folder / STATE).exists()), None)
        answered = json.loads(state.read_text())["inputs"] if state else 0
        if state and answered >= count // 2:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return int(json.loads(state.read_text())["inputs"])
        time.sleep(0.05)
    return 0


def main(model: str, counts: list[int]) -> None:
    sizes = []
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            source, whole, resumed = (Path(folder) / f"{name}-{count}.jsonl" for name in ("in", "whole", "resumed"))
            write(source, count)
            found = {"inputs": count, "bytes": source.stat().st_size, **measured(model, source, whole)}
            if count == counts[0]:
                answered = killed(model, source, resumed, count)
                measured(model, source, resumed)
                found |= {"killed_after": answered, "same_file": resumed.read_bytes() == whole.read_bytes()}
            with whole.open() as lines:
                ordered = all(json.loads(line)["id"] == number for number, line in enumerate(lines))
            sizes.append({**found, "per_second": count / found["seconds"], "ordered": ordered})
            print(sizes[-1], flush=True)
            source.unlink()
            whole.unlink()
    append(
        "stream",
        {
            "model": Path(model).parent.name if Path(model).name == "model" else Path(model).name,
            "cores": len(os.sched_getaffinity(0)),
            "sizes": sizes,
            **circumstances(),
        },
    )


if __name__ == "__main__":
    main(sys.argv[1], [int(word) for word in sys.argv[2:]] or [100_000, 1_000_000])
