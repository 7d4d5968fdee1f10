"""Times the demo of the README: `python benchmarks/demo.py [seeds]`. Appends one record per seed to results/demo.jsonl.

Each seed runs in its own empty folder. A record contains figures of the run's report.json and the wall time. `--reuse` keeps
finished stages of an earlier run; no wall time is recorded then.
"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from records import append, circumstances

PROGRAM = str(Path(sys.executable).with_name("niwaki"))


def run(seed: int, reuse: bool) -> dict:
    folder = Path("runs") / f"demo-seed-{seed}"
    reuse = reuse and folder.exists()
    if not reuse:
        shutil.rmtree(folder, ignore_errors=True)
    start = time.perf_counter()
    subprocess.run([PROGRAM, "run", "--set", f"seed={seed}", "--out", str(folder)], check=True)
    seconds = None if reuse else time.perf_counter() - start
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    rows = json.loads((folder / "baseline.json").read_text(encoding="utf-8"))["baselines"]
    baselines = [{"name": row["name"], "score": row["score"]["value"]} for row in rows]
    return {"seed": seed, "seconds": seconds, **summary(report), "baselines": baselines}


FIGURES = (
    "name",
    "score",
    "score_low",
    "score_high",
    "bytes",
    "parameters",
    "flops",
    "throughput",
    "latency_ms",
    "ratios",
)


def summary(report: dict) -> dict:
    baseline = report.get("baseline") or {}
    return {
        "stages": [figures(stage) for stage in report["stages"]],
        "reference": figures(report["reference"]),
        "baseline": {key: baseline.get(key) for key in ("name", "score")},
        "verdict": report["verdict"]["sentence"],
    }


def figures(stage: dict) -> dict:
    return {key: stage.get(key) for key in FIGURES}


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    for number in range(numbers[0] if numbers else 3):
        append("demo", {**run(number, "--reuse" in sys.argv), **circumstances()})
