"""Trains and distils sequence-to-sequence models for formulas and translations: `python benchmarks/generation.py DATA [name[/task[/seed]] …]`.

DATA is a folder of tasks (docs/semantic_parsing.md, docs/translation.md) with cogs, scan, geoquery, atis and multi30k. Appends a record per
job to results/writing.jsonl. Stages are stored in runs/writing-TASK-SEED and reused. `--list` shows the jobs.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jobs import both, main, make, raced, spent_on

from niwaki.core.files import read_json
from niwaki.run import cascade
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

Stage = dict[str, Any]
FRESH = {"use": "add_decoder", "encoder": "fresh", "shared": True, "heads": 4}
PRETRAINED = [{"use": "add_decoder", "layers": 2}, {"use": "freeze"}]
# settings of the task; the methods that make the network; how it is trained
TEACHERS: dict[str, tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]] = {
    "geoquery": ({"beam": 1, "recombined": 1000}, PRETRAINED, {"epochs": 30, "lr": 4e-4, "batch": 32, "dropout": 0.1}),
    "scan": (
        {"beam": 1, "label_smoothing": 0.0},
        [{**FRESH, "layers": 2, "depth": 2, "hidden": 128, "ffn_size": 256}],
        {"epochs": 20, "lr": 1e-3, "batch": 64, "dropout": 0.0},
    ),
    "atis": ({"beam": 1}, PRETRAINED, {"epochs": 12, "lr": 3e-4, "batch": 32, "dropout": 0.1}),
    "cogs": (
        {"beam": 1, "label_smoothing": 0.0},
        [{**FRESH, "layers": 2, "depth": 2, "hidden": 192, "ffn_size": 384}],
        {"epochs": 18, "lr": 1e-3, "batch": 128, "dropout": 0.1},
    ),
    "multi30k": (
        {"vocab_size": 6000, "max_new_tokens": 80},
        [{**FRESH, "layers": 3, "depth": 3, "hidden": 256, "ffn_size": 512}],
        {"epochs": 14, "lr": 1e-3, "batch": 128, "dropout": 0.25},
    ),
}
INT8 = {"name": "int8", "methods": [{"use": "int8"}]}
SHORT = {"epochs": 6, "lr": 1e-3, "batch": 128, "dropout": 0.1}
SMALL = {"epochs": 6, "lr": 4e-4, "batch": 32, "dropout": 0.1}
CUT = [{"use": "vocabulary"}, {"use": "student", "layers": 3, "ffn": 1152}]
# students of each teacher; trained ones also without distillation (`-alone`)
STUDENTS: dict[str, dict[str, list[Stage]]] = {
    "multi30k": {
        "quarter": [{"name": "quarter", "methods": [{"use": "gptq", "bits": 4}]}],
        "tenth": [
            {
                "name": "tenth",
                "teacher": "teacher",
                "methods": [{"use": "student", "hidden": 112, "heads": 2, "ffn": 192}, {"use": "sequence_kd"}],
                "train": SHORT,
            },
            INT8,
        ],
        "tenth-alone": [
            {
                "name": "alone",
                "methods": [{**FRESH, "layers": 3, "depth": 3, "hidden": 112, "heads": 2, "ffn_size": 192}],
                "train": SHORT,
            },
            INT8,
        ],
    },
    "atis": {
        "quarter": [{"name": "quarter", "methods": [{"use": "vocabulary"}, {"use": "int8"}]}],
        "tenth": [
            {
                "name": "tenth",
                "teacher": "teacher",
                "methods": [*CUT, {"use": "logits", "temperature": 1.0, "weight": 0.5}],
                "train": SMALL,
            },
            INT8,
        ],
        "tenth-alone": [
            {
                "name": "alone",
                "methods": [
                    {"use": "vocabulary"},
                    {"use": "student", "layers": 3},
                    {"use": "add_decoder", "layers": 2},
                    {"use": "ffn", "keep": 0.75},
                ],
                "train": SMALL,
            },
            INT8,
        ],
    },
}
# a prefix language model; its input uses the tokenizer of MiniLM, whose embedding is most of its size
PREFIX: dict[str, list[dict[str, Any]]] = {
    "scan": [
        {"use": "add_decoder", "encoder": "fresh", "layers": 0, "depth": 5, "hidden": 128, "heads": 4, "ffn_size": 256}
    ]
}
NAMES = ("teacher", "prefix", "int8", "quarter", "tenth", "tenth-alone", "cascade")
STEPS = ("tenth", "teacher")  # of the cascade
KEEP, LEVEL = 0.99, 0.95


def jobs() -> list[tuple[str, str, int]]:
    def has(name: str, task: str) -> bool:
        return task in PREFIX if name == "prefix" else name in ("teacher", "int8") or task in STUDENTS

    return [(name, task, 0) for task in TEACHERS for name in NAMES if has(name, task)]


def run(name: str, task: str, seed: int, data: str) -> dict[str, Any]:
    settings, _, _ = TEACHERS[task]
    recipe = {
        "model": "minilm",
        "task": task,
        "seed": seed,
        "data": {"path": data, **settings},
        "quantize": [],
        "stages": stages(name, task),
    }
    plan = make_plan(parse(recipe), f"{name}-{task}")
    folder = Path("runs") / f"writing-{task}-{seed}"
    make(plan, folder)
    if name == "cascade":
        return {"name": name, "task": task, "seed": seed, **cascaded(plan, folder)}
    found = {"name": name, "task": task, "seed": seed, **summary(plan, folder)}
    return (
        {**found, "race": raced(plan, folder)} if plan.stages[0].spec.name == "teacher" and name != "teacher" else found
    )


def stages(name: str, task: str) -> list[Stage]:
    _, network, train = TEACHERS[task]
    teacher: Stage = {"name": "teacher", "methods": network, "train": train}
    if name == "teacher":
        return [teacher]
    if name == "prefix":
        return [{**teacher, "name": name, "methods": PREFIX[task]}]
    stages = [INT8] if name == "int8" else STUDENTS[task][STEPS[0] if name == "cascade" else name]
    return stages if name.endswith("-alone") else [teacher, *stages]


def cascaded(plan: Plan, folder: Path) -> dict[str, Any]:
    """A cascade of the small student and the teacher: threshold, score kept, time and energy of all three."""
    models = [one / "model" for one in reversed(both(plan, folder))]
    with TemporaryDirectory() as where:
        chosen = cascade.make(models, plan.task, Path(where) / "made", KEEP, LEVEL, "onnx")
    keys = ("metric", "keep", "level", "threshold", "validation", "test")
    answers = {name: model["answers"] for name, model in zip(STEPS, chosen["models"], strict=True)}
    speed = dict(zip((*STEPS, "cascade"), chosen["speed"].values(), strict=True))
    return {**{key: chosen[key] for key in keys}, "answers": answers, "speed": speed}


def summary(plan: Plan, folder: Path) -> dict[str, Any]:
    last = plan.stages[-1]
    result = read_json(folder / last.folder / "result.json")
    keys = ("score", "parts", "bytes", "parameters", "flops", "flops_tokens", "engine", "parity", "training")
    return {
        **{key: result[key] for key in keys},
        "rows": {part: table.num_rows for part, table in plan.task.splits().items()},
        "stages": [stage.to_json() for stage in plan.stages],
        "spent": [spent_on(stage, folder) for stage in plan.stages],
    }


if __name__ == "__main__":
    main(__doc__, "writing", ("name", "task", "seed"), jobs(), run)
