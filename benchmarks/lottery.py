"""Compares lottery tickets with random tickets: `python benchmarks/lottery.py DATA [rewind[/sparsity[/task[/seed]]] …]`.

Fine-tunes MiniLM-L6 with frozen embeddings. Rounds at 50, 70 and 90 % sparsity each remove the smallest weights of the previous round and
train the rest from the weights of early training (`early`) or from its current ones (`none`). A random ticket goes through as many
rounds with as many random weights. Appends a record per ticket to results/lottery.jsonl. Stages are stored in runs/lottery-… and
reused. `--list` shows the jobs.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from jobs import main, make, stages_of

from niwaki.core.files import read_json
from niwaki.evaluate.glue import task_score
from niwaki.evaluate.quality import difference
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

SPARSITIES = (0.5, 0.7, 0.9)
REWINDS = ("early", "none")
TRAIN = {"epochs": 1.0, "lr": 1e-4, "dropout": 0.0}
FREEZE = {"use": "freeze"}
Stage = dict[str, Any]


def stages(rewind: str, sparsity: float) -> list[Stage]:
    """The dense model, then rounds up to `sparsity` for the ticket and for a random one."""
    found: list[Stage] = [
        {"name": "early", "methods": [FREEZE], "train": {**TRAIN, "epochs": 0.2}},
        {"name": "dense", "methods": [FREEZE], "train": TRAIN},
    ]
    for name, chance in (("ticket", False), ("chance", True)):
        start = "dense"
        for share in SPARSITIES[: SPARSITIES.index(sparsity) + 1]:
            method = {"use": "lottery", "sparsity": share, "rewind": rewind, "random": chance}
            found.append(
                {"name": f"{name}-{100 * share:.0f}", "start": start, "methods": [method, FREEZE], "train": TRAIN}
            )
            start = found[-1]["name"]
    return found


def home(task: str, seed: int) -> Path:
    return Path("runs") / f"lottery-{task}-{seed}"


def run(rewind: str, percent: int, task: str, seed: int, data: str) -> dict[str, Any]:
    rows = {} if task == "rotten_tomatoes" else {"path": data}
    recipe = {
        "model": "minilm",
        "task": task,
        "data": rows,
        "seed": seed,
        "quantize": [],
        "stages": stages(rewind, percent / 100),
    }
    plan = make_plan(parse(recipe), f"lottery-{rewind}-{percent}")
    make(plan, home(task, seed))
    return {"rewind": rewind, "percent": percent, "task": task, "seed": seed, **summary(plan, home(task, seed))}


def summary(plan: Plan, folder: Path) -> dict[str, Any]:
    rounds = (len(plan.stages) - 2) // 2
    places = {"dense": 1, "ticket": 1 + rounds, "chance": 1 + 2 * rounds}
    named = {name: folder / plan.stages[place].folder for name, place in places.items()}
    results = {name: read_json(one / "result.json") for name, one in named.items()}
    found = {name: [np.load(one / "example_stats.npy", allow_pickle=False)] for name, one in named.items()}
    return {
        "metric": plan.task.metric,
        "scores": {name: task_score(result) for name, result in results.items()},
        "weights": {name: (one / "model" / "model.safetensors").stat().st_size for name, one in named.items()},
        "over_chance": difference(plan.task, found["ticket"], found["chance"]),
        "over_dense": difference(plan.task, found["ticket"], found["dense"]),
        **stages_of(plan, folder),
    }


def everything() -> Iterable[tuple[str, int, str, int]]:
    for seed in (0, 1, 2):
        yield from ((rewind, round(100 * share), "rotten_tomatoes", seed) for rewind in REWINDS for share in SPARSITIES)


if __name__ == "__main__":
    main(__doc__, "lottery", ("rewind", "percent", "task", "seed"), everything(), run)
