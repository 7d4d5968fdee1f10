"""Word senses: published systems, baselines, a teacher and its students: `python benchmarks/senses.py DATA [name[/seed] …]`.

DATA is a folder of tasks (docs/senses.md) with `wsd_raganato`, `semcor` and `wordnet30`. Appends a record per job to
results/senses.jsonl; stages lie in runs/senses-SEED, and what is there already is not made again. `--list` shows the jobs.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from jobs import main, make

from niwaki.core.files import folder_bytes, read_json
from niwaki.data.files import read_table
from niwaki.evaluate.quality import difference, quality
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse
from niwaki.tasks._sense_baselines import counted, first_sense, most_frequent
from niwaki.tasks.wsd import ALL, SETS, Wsd

SYSTEMS = {
    "esc": "ESCHER", "bem": "BEM", "ewiser": "EWISER", "ares": "ARES", "glossbert": "GlossBERT", "generationary": "Generationary",
    "lmms": "LMMS", "syntagrank": "SyntagRank",
}  # fmt: skip
SPENT = ("seconds", "cpu_seconds", "joules", "tier")
Stage = dict[str, Any]
Answers = list[list[str | None]]

TRAIN = {"batch": 16, "validations": 2, "warmup": 0.06}
TEACHER: list[Stage] = [
    {"name": "first", "methods": [{"use": "freeze"}], "train": {**TRAIN, "epochs": 1.0, "lr": 2e-4}},
    {"name": "teacher", "methods": [{"use": "freeze"}], "train": {**TRAIN, "epochs": 1.0, "lr": 1e-4}},
]
SMALL = {"use": "student", "layers": 3, "ffn": 752}
STUDENT_TRAIN = {**TRAIN, "epochs": 1.0, "lr": 2e-4}
STUDENTS: dict[str, list[Stage]] = {
    "student": [
        {"name": "student", "teacher": "teacher", "methods": [SMALL, {"use": "logits", "temperature": 1.0, "weight": 0.7}], "train": STUDENT_TRAIN},
        {"name": "student-int8", "methods": [{"use": "int8"}]},
    ],
    "alone": [
        {"name": "alone", "methods": [SMALL], "train": STUDENT_TRAIN},
        {"name": "alone-int8", "methods": [{"use": "int8"}]},
    ],
}  # fmt: skip
NAMES = ("published", "teacher", *STUDENTS)


def run(name: str, seed: int, data: str) -> dict[str, Any]:
    found = published(data) if name == "published" else made(name, seed, data)
    return {"name": name, "seed": seed, **found}


def published(data: str) -> dict[str, Any]:
    """What systems of others answered, and the two baselines, by our scorer: on ALL, each set and each part of speech."""
    task = Wsd(path=data)
    said = read_table(Path(task.source()) / "system_predictions_ALL.parquet").to_pylist()
    inventory, train = task.inventory_alone, task.splits()["train"]
    common = counted(task.inputs(train), task.gold(train))
    tellers: dict[str, Callable[[str], Answers]] = {}
    for column, title in SYSTEMS.items():
        answers = {row["instance_id"]: row[column] for row in said}
        tellers[title] = lambda part, answers=answers: [[answers.get(one) for one in ids] for ids in task.splits()[part].column("ids").to_pylist()]  # fmt: skip
    tellers["first sense of WordNet"] = lambda part: [[first_sense(inventory, one) for one in row.targets] for row in task.inputs(task.splits()[part])]  # fmt: skip
    tellers["most frequent in SemCor"] = lambda part: [[most_frequent(inventory, common, one) for one in row.targets] for row in task.inputs(task.splits()[part])]  # fmt: skip
    return {"systems": {title: each(task, tell) for title, tell in tellers.items()}}


def each(task: Wsd, tell: Callable[[str], Answers]) -> dict[str, Any]:
    """F1 of each set, and of ALL with its parts of speech."""
    tables = task.splits()
    found = {part: task.scores(task.outcomes(tell(part), tables[part])) for part in (ALL, *SETS)}
    return {part: scores if part == ALL else scores["f1"] for part, scores in found.items()}


def made(name: str, seed: int, data: str) -> dict[str, Any]:
    stages = [*TEACHER, *STUDENTS.get(name, [])]
    model = {"model": "minilm", "task": "wsd", "data": {"path": data}, "seed": seed, "stages": stages}
    if name == "alone":  # from the same pretrained layers, and no teacher's
        model["stages"] = STUDENTS[name]
    folder = Path("runs") / f"senses-{seed}"
    plan = make_plan(parse(model), f"senses-{name}")
    make(plan, folder)
    return {"stages": [told(plan, folder, stage.spec.name) for stage in plan.stages], **beside(plan, folder, name)}


def told(plan: Plan, folder: Path, stage: str) -> dict[str, Any]:
    """Scores of one stage, on the test and on every further one; bytes; what it took."""
    home = folder / plan.stage(stage).folder
    result = read_json(home / "result.json")
    parts = {"test": result["score"], **result["parts"]}
    weights = (home / "model" / "model.safetensors").stat().st_size
    beside = sum((home / "model" / name).stat().st_size for name in plan.task.kind.files)
    return {
        "stage": stage,
        "scores": {part: {name: one["value"] for name, one in score["all"].items()} for part, score in parts.items()},
        "interval": [parts[ALL]["low"], parts[ALL]["high"]],
        "bytes": folder_bytes(home / "model"), "weights": weights, "knowledge": beside,
        "parameters": result["parameters"], "flops": result["flops"], "engine": result["engine"], "parity": result["parity"],
        "spent": {key: result["spent"][key] for key in SPENT},
    }  # fmt: skip


def beside(plan: Plan, folder: Path, name: str) -> dict[str, Any]:
    """What the last stage has less than the teacher, row by row of the test."""
    if name != "student":
        return {}
    outcomes = [np.load(folder / plan.stage(stage).folder / "outcomes.npy", allow_pickle=False) for stage in ("student-int8", "teacher")]  # fmt: skip
    return {
        "paired": difference(plan.task, [outcomes[0]], [outcomes[1]]),
        "test": quality(plan.task, outcomes[0])["value"],
    }


if __name__ == "__main__":
    main(__doc__, "senses", ("name", "seed"), [(name, 0) for name in NAMES], run)
