"""Several teachers and self-distillation on few rows: `python benchmarks/ensembles.py DATA [dataset/rows/seed …]`.

DATA is the folder of `own_data.py`, which draws the rows. Three models that differ in their random numbers are fine-tuned; then the same model is trained on the answers of one
of them (self-distillation) and of all three, and their weights are averaged. Scores of all stages are on the same test rows. Appends to
results/ensembles.jsonl; recorded jobs are skipped.
"""

import itertools
from pathlib import Path
from typing import Any

import jobs
import numpy as np
import own_data

from niwaki.core.files import read_json
from niwaki.evaluate.quality import difference
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse

KEYS = ("dataset", "rows", "seed")
ROWS, SEEDS = (1000,), (0, 1, 2)
DATASETS = ("sst2", "ag_news", "cola", "qnli")
METHODS: list[dict[str, Any]] = [{"use": "freeze"}, {"use": "auto_head", "dense": False}]
TRAIN = {"epochs": 6, "lr": 1e-4}
SOFT = {"use": "logits", "temperature": 2.0, "weight": 0.5}
REPLICAS = ("one", "two", "three")
STUDENTS: dict[str, Any] = {"self": "one", "ensemble": [*REPLICAS]}  # stage: its teachers


def stages() -> list[dict[str, Any]]:
    fresh = {"start": "pretrained", "train": TRAIN}
    replicas = [{**fresh, "name": name, "methods": METHODS, "replica": number} for number, name in enumerate(REPLICAS)]
    del replicas[0]["start"]
    students = [
        {**fresh, "name": name, "methods": [*METHODS, SOFT], "teacher": teacher} for name, teacher in STUDENTS.items()
    ]
    soup = {"name": "soup", "start": "one", "methods": [{"use": "soup", "other_stages": [*REPLICAS[1:]]}]}
    return [*replicas, *students, soup]


def run(dataset: str, rows: int, seed: int, data: str) -> dict[str, Any]:
    home = Path("runs") / "ensembles" / f"{dataset}-{rows}-{seed}"
    own_data.write(own_data.drawn(dataset, rows, seed, Path(data)), home / "rows")
    recipe = {
        "model": "minilm",
        "task": "classification",
        "data": {"path": str(home / "rows")},
        "seed": seed,
        "quantize": [],
        "stages": stages(),
    }
    plan = make_plan(parse(recipe), dataset)
    jobs.make(plan, home)
    folders = {stage.spec.name: home / stage.folder for stage in plan.stages}
    stats = {name: np.load(folder / "example_stats.npy", allow_pickle=False) for name, folder in folders.items()}
    return {
        **dict(zip(KEYS, (dataset, rows, seed), strict=True)),
        "metric": plan.task.metric,
        "scores": {name: read_json(folder / "result.json")["score"]["value"] for name, folder in folders.items()},
        "pairs": {
            name: difference(plan.task, [stats[name]] * len(REPLICAS), [stats[one] for one in REPLICAS])
            for name in (*STUDENTS, "soup")
        },
        "spent": {stage.spec.name: jobs.spent_on(stage, home) for stage in plan.stages},
    }


if __name__ == "__main__":
    found = [(name, rows, seed) for rows, seed, name in itertools.product(ROWS, SEEDS, DATASETS)]
    jobs.main(__doc__, "ensembles", KEYS, found, run)
