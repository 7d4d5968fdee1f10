"""Texts that are written, formulas and translations: teachers and their students: `python benchmarks/writing.py DATA [name[/task[/seed]] …]`.

DATA is a folder of tasks (docs/parsing.md, docs/translation.md) with cogs, scan, geoquery, atis and multi30k. Appends a record per
job to results/writing.jsonl; stages lie in runs/writing-TASK-SEED, and what is there already is not made again. `--list` shows the
jobs.
"""

from pathlib import Path
from typing import Any

from jobs import main, make, spent_on

from niwaki.core.files import read_json
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

Stage = dict[str, Any]
FRESH = {"use": "writer", "encoder": "fresh", "shared": True, "heads": 4}
# task and its settings; the method that makes the network; how it is trained
TASKS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "geoquery": ({"beam": 1, "recombined": 1000}, {"use": "writer", "layers": 2}, {"epochs": 30, "lr": 4e-4, "batch": 32, "dropout": 0.1}),
    "scan": ({"beam": 1, "smoothing": 0.0}, {**FRESH, "layers": 2, "depth": 2, "hidden": 128, "neurons": 256}, {"epochs": 14, "lr": 1e-3, "batch": 64, "dropout": 0.1}),
    "atis": ({"beam": 1}, {"use": "writer", "layers": 2}, {"epochs": 20, "lr": 3e-4, "batch": 32, "dropout": 0.1}),
    "cogs": ({"beam": 1, "smoothing": 0.0}, {**FRESH, "layers": 2, "depth": 2, "hidden": 192, "neurons": 384}, {"epochs": 18, "lr": 1e-3, "batch": 128, "dropout": 0.1}),
    "multi30k": ({"pieces": 6000, "longest": 80}, {**FRESH, "layers": 3, "depth": 3, "hidden": 256, "neurons": 512}, {"epochs": 14, "lr": 1e-3, "batch": 128, "dropout": 0.25}),
}  # fmt: skip
NAMES = ("teacher",)


def run(name: str, task: str, seed: int, data: str) -> dict[str, Any]:
    settings, _, _ = TASKS[task]
    recipe = {
        "model": "minilm",
        "task": task,
        "seed": seed,
        "data": {"path": data, **settings},
        "stages": stages(name, task),
    }
    plan = make_plan(parse(recipe), f"{name}-{task}")
    folder = Path("runs") / f"writing-{task}-{seed}"
    make(plan, folder)
    return {"name": name, "task": task, "seed": seed, **summary(plan, folder)}


def stages(name: str, task: str) -> list[Stage]:
    _, network, train = TASKS[task]
    methods = [network] if network.get("encoder") == "fresh" else [network, {"use": "freeze"}]
    return [{"name": "teacher", "methods": methods, "train": train}]


def summary(plan: Plan, folder: Path) -> dict[str, Any]:
    last = plan.stages[-1]
    result = read_json(folder / last.folder / "result.json")
    kept = ("score", "parts", "bytes", "parameters", "flops", "flops_tokens", "engine", "parity", "training")
    return {
        **{key: result[key] for key in kept},
        "rows": {part: table.num_rows for part, table in plan.task.splits().items()},
        "stages": [stage.to_json() for stage in plan.stages],
        "spent": [spent_on(stage, folder) for stage in plan.stages],
    }


if __name__ == "__main__":
    main(__doc__, "writing", ("name", "task", "seed"), [(name, task, 0) for task in TASKS for name in NAMES], run)
