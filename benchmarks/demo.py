"""The README's first command, timed: `python benchmarks/demo.py [seeds]`. Appends one record per seed to results/demo.jsonl.

Each seed runs in a folder of its own, from nothing; what is recorded is what the run's report.json says, and the wall time.
"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from records import append, circumstances

PROGRAM = str(Path(sys.executable).with_name("niwaki"))


def run(seed: int) -> dict:
    folder = Path("runs") / f"demo-seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    start = time.perf_counter()
    subprocess.run([PROGRAM, "run", "--set", f"seed={seed}", "--out", str(folder)], check=True)
    seconds = time.perf_counter() - start
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    tried = json.loads((folder / "baseline.json").read_text(encoding="utf-8"))["tried"]
    baselines = [{"name": row["name"], "score": row["score"]["value"]} for row in tried]
    return {"seed": seed, "seconds": seconds, **summary(report), "baselines": baselines}


def summary(report: dict) -> dict:
    figures = (
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
    pick = lambda stage: {key: stage.get(key) for key in figures}  # noqa: E731
    baseline = report.get("baseline") or {}
    return {
        "stages": [pick(stage) for stage in report["stages"]],
        "reference": pick(report["reference"]),
        "baseline": {key: baseline.get(key) for key in ("name", "score")},
        "verdict": report["verdict"]["sentence"],
    }


if __name__ == "__main__":
    for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
        append("demo", {**run(number), **circumstances()})
