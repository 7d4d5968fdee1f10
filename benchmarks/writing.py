"""Texts that are written, formulas and translations: teachers and their students: `python benchmarks/writing.py DATA [name[/task[/seed]] …]`.

DATA is a folder of tasks (docs/parsing.md, docs/translation.md) with cogs, scan, geoquery, atis and multi30k. Appends a record per
job to results/writing.jsonl; stages lie in runs/writing-TASK-SEED, and what is there already is not made again. `--list` shows the
jobs.
"""

from pathlib import Path
from typing import Any

from jobs import main, make, raced, spent_on

from niwaki.core.files import read_json
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

Stage = dict[str, Any]
FRESH = {"use": "writer", "encoder": "fresh", "shared": True, "heads": 4}
PRETRAINED = [{"use": "writer", "layers": 2}, {"use": "freeze"}]
# settings of the task; the methods that make the network; how it is trained
TEACHERS: dict[str, tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]] = {
    "geoquery": ({"beam": 1, "recombined": 1000}, PRETRAINED, {"epochs": 30, "lr": 4e-4, "batch": 32, "dropout": 0.1}),
    "scan": ({"beam": 1, "smoothing": 0.0}, [{**FRESH, "layers": 2, "depth": 2, "hidden": 128, "neurons": 256}], {"epochs": 20, "lr": 1e-3, "batch": 64, "dropout": 0.0}),
    "atis": ({"beam": 1}, PRETRAINED, {"epochs": 12, "lr": 3e-4, "batch": 32, "dropout": 0.1}),
    "cogs": ({"beam": 1, "smoothing": 0.0}, [{**FRESH, "layers": 2, "depth": 2, "hidden": 192, "neurons": 384}], {"epochs": 18, "lr": 1e-3, "batch": 128, "dropout": 0.1}),
    "multi30k": ({"pieces": 6000, "longest": 80}, [{**FRESH, "layers": 3, "depth": 3, "hidden": 256, "neurons": 512}], {"epochs": 14, "lr": 1e-3, "batch": 128, "dropout": 0.25}),
}  # fmt: skip
TAUGHT = [{"use": "written"}, {"use": "logits", "temperature": 1.0, "weight": 0.5}]
INT8 = {"name": "int8", "methods": [{"use": "int8"}]}
# of a student: what cuts it from its teacher, what makes the same network from nothing, how both are trained
STUDENTS: dict[str, dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]]] = {
    "multi30k": {
        "quarter": (
            [{"use": "student", "hidden": 192, "heads": 3, "ffn": 384}],
            [{**FRESH, "layers": 3, "depth": 3, "hidden": 192, "heads": 3, "neurons": 384}],
            {"epochs": 4, "lr": 1e-3, "batch": 128, "dropout": 0.1},
        ),
        "tenth": (
            [{"use": "student", "hidden": 112, "heads": 2, "ffn": 192}],
            [{**FRESH, "layers": 3, "depth": 3, "hidden": 112, "heads": 2, "neurons": 192}],
            {"epochs": 6, "lr": 1e-3, "batch": 128, "dropout": 0.1},
        ),
    },
    "atis": {
        "quarter": (
            [{"use": "vocabulary"}, {"use": "student", "ffn": 1152}],
            [{"use": "vocabulary"}, {"use": "writer", "layers": 2}, {"use": "ffn", "keep": 0.75}],
            {"epochs": 6, "lr": 3e-4, "batch": 32, "dropout": 0.1},
        ),
        "tenth": (
            [{"use": "vocabulary"}, {"use": "student", "layers": 3, "ffn": 768}],
            [{"use": "vocabulary"}, {"use": "student", "layers": 3}, {"use": "writer", "layers": 2}, {"use": "ffn", "keep": 0.5}],
            {"epochs": 8, "lr": 3e-4, "batch": 32, "dropout": 0.1},
        ),
    },
}  # fmt: skip
NAMES = ("teacher", "int8", "quarter", "tenth", "quarter-alone", "tenth-alone")


def jobs() -> list[tuple[str, str, int]]:
    return [(name, task, 0) for task in TEACHERS for name in NAMES if name in ("teacher", "int8") or task in STUDENTS]


def run(name: str, task: str, seed: int, data: str) -> dict[str, Any]:
    settings, _, _ = TEACHERS[task]
    recipe = {"model": "minilm", "task": task, "seed": seed, "data": {"path": data, **settings}, "stages": stages(name, task)}  # fmt: skip
    plan = make_plan(parse(recipe), f"{name}-{task}")
    folder = Path("runs") / f"writing-{task}-{seed}"
    make(plan, folder)
    found = {"name": name, "task": task, "seed": seed, **summary(plan, folder)}
    return (
        {**found, "race": raced(plan, folder)} if plan.stages[0].spec.name == "teacher" and name != "teacher" else found
    )


def stages(name: str, task: str) -> list[Stage]:
    _, network, train = TEACHERS[task]
    teacher: Stage = {"name": "teacher", "methods": network, "train": train}
    if name in ("teacher", "int8"):
        return [teacher, INT8][: 1 + (name == "int8")]
    cut, fresh, how = STUDENTS[task][name.removesuffix("-alone")]
    if name.endswith("-alone"):
        return [{"name": name, "methods": fresh, "train": how}, INT8]
    return [teacher, {"name": name, "teacher": "teacher", "methods": [*cut, *TAUGHT], "train": how}, INT8]


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
    main(__doc__, "writing", ("name", "task", "seed"), jobs(), run)
