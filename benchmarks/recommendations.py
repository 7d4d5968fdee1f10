"""Checks the recommendations of runs: `python benchmarks/recommendations.py QUESTIONS [FOLDER]`. Appends one record per run to results/recommendations.jsonl.

There are three runs: the demo (Rotten Tomatoes); a CSV file of 5,000 short questions with six labels (QUESTIONS: columns question and
label, as in TREC); and the demo starting from its own fine-tuned teacher. For each, the rule of docs/report.md is applied to the figures
in report.json and must give the recommended stage. Finished runs in FOLDER (runs/recommendations) are reused.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from records import append, circumstances

import niwaki

KEEP, TIE = 0.97, 1.05
SHORT = [
    "stages.teacher.train.epochs=0.3",
    "stages.student.train.epochs=0.5",
    "stages.student.train.unlabelled=0",
    "stages.pruned.train.epochs=0.3",
    "stages.pruned.train.unlabelled=0",
]
Facts = dict[str, Any]


def main(questions: str, home: Path) -> None:
    example = run(home / "rotten_tomatoes")
    record("Rotten Tomatoes", example)
    record("5,000 questions, six labels", run(home / "questions", "--data", questions))
    teacher = niwaki.run.result.Run.read(example).model("teacher")
    settings = [f"model={json.dumps(str(teacher))}", *SHORT]
    record("from a fine-tuned model", run(home / "fine_tuned", *[word for one in settings for word in ("--set", one)]))


def run(folder: Path, *more: str) -> Path:
    subprocess.run([sys.executable, "-m", "niwaki", "run", *more, "--out", str(folder)], check=True)
    return folder


def record(name: str, folder: Path) -> None:
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    verdict, stages = report["verdict"], {stage["name"]: stage for stage in report["stages"]}
    chosen, faults = stages[verdict["deploy"]], faults_in(report, folder)
    record = {
        "name": name,
        "deploy": chosen["name"],
        "best": verdict["best"],
        "kept": chosen["kept"],
        "bytes": chosen["bytes"],
        "reference_bytes": report["reference"]["bytes"],
        "engine": chosen["loaded"]["engine"],
        "ratio": {
            key: chosen["loaded"]["ratios"][f"throughput{end}"]
            for key, end in (("value", ""), ("low", "_low"), ("high", "_high"))
        },
        "portable_ratio": chosen["ratios"]["throughput"],
        "busy": report["race"]["busy"],
        "transformer": verdict["transformer"]["needed"],
        "baseline": report["baseline"]["name"],
        "fine_tuning": (verdict["fine_tuning"] or {}).get("needed"),
        "baselines": {baseline["name"]: baseline["score"] for baseline in report["baselines"]},
        "not_run": report["baselines_not_run"],
        "scores": {stage["name"]: stage["score"] for stage in stages.values()},
        "sentence": verdict["sentence"],
        "faults": faults,
    }
    append("recommendations", {**record, **circumstances()})
    print(name, "->", chosen["name"], faults or "right")


def faults_in(report: Facts, folder: Path) -> list[str]:
    """Errors of a recommendation, found by applying the rule to the figures and by loading the model."""
    checks = {
        "the rule gives another stage": report["verdict"]["deploy"] != expected(report["stages"]),
        "a stage that answers has no quantized copy": not all_have_copies(report["stages"]),
        "the baseline runs a transformer": runs_transformer(report, report["baseline"]["name"]),
        "a baseline was built on a fine-tuned model": is_fine_tuned(report)
        and any(baseline["kind"] in ("static", "frozen") for baseline in report["baselines"]),
        "niwaki.load gives another model or engine": not loads(report, folder),
    }
    return [fault for fault, found in checks.items() if found]


def expected(stages: list[Facts]) -> str:
    """The cheapest stage that keeps 97 % of the best score, by energy in the loaded engine; within 5 %, the smallest."""
    best = max(stage["score"] for stage in stages)
    enough = [stage for stage in stages if stage["score"] >= KEEP * best]
    costs = {stage["name"]: stage["loaded"]["energy"]["per_1000"]["joules"] for stage in enough}
    tied = [stage for stage in enough if costs[stage["name"]] <= TIE * min(costs.values())]
    return min(tied, key=lambda stage: (stage["bytes"], -stage["score"]))["name"]


def all_have_copies(stages: list[Facts]) -> bool:
    """Whether every trained stage has an 8-bit and a 4-bit version, as a copy or as a stage of the recipe."""
    copies = {(stage["parent"], method["use"]) for stage in stages for method in stage["methods"]}
    return all((stage["name"], use) in copies for stage in stages if stage["training"] for use in ("int8", "rtn"))


def runs_transformer(report: Facts, name: str) -> bool:
    return next(baseline["transformer"] for baseline in report["baselines"] if baseline["name"] == name)


def is_fine_tuned(report: Facts) -> bool:
    return report["model"] != "minilm"


def loads(report: Facts, folder: Path) -> bool:
    stage = next(stage for stage in report["stages"] if stage["name"] == report["verdict"]["deploy"])
    model = niwaki.load(folder)
    return model.folder.parent == folder / stage["folder"] and model.engine == stage["loaded"]["engine"]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2] if len(sys.argv) > 2 else "runs/recommendations"))
