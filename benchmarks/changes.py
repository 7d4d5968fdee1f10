"""Who pays for compression: `python benchmarks/changes.py DATA [kind[/name[/task]] …]` trains teachers and students, then compares them.

DATA is a folder of tasks (docs/tasks.md). Kinds:
stack  seed 0: a teacher, a student of half its layers that is compressed to a thirtieth (`gptq`, 4 bits) and a fiftieth (`qat`, 2 bits), and a twin of
       `gptq` with the same start, shape and steps that learns from labels alone (`gptq-labels`); each compared with the teacher
seeds  PIE of four seeds: 3 bits without training (`rtn`) and half the layers, distilled for one epoch (`half`); those of SST-2 also on IMDb
domain the stacks of SST-2 on whole reviews (IMDb), grouped by the stars that their authors gave
Training rows are few, because all seeds are trained on two cores. Appends to results/changes.jsonl; existing records are skipped.
"""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
from jobs import main, make

from niwaki.api.comparing import compare
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

Stage = dict[str, Any]
TASKS = {"sst2": 2400, "mrpc": 1500}  # train rows
SHORT_ROWS = 1200  # of each seed
SEEDS = range(4)
STACKS = ("gptq", "qat", "gptq-labels")
REVIEWS = 1000
MOST_GROUPS = 12  # in a record
LOGITS = {"use": "logits", "temperature": 1.0, "weight": 1.0}
SHAPE = {"use": "student", "layers": 3, "ffn": 752}


def trained(epochs: float, lr: float) -> Stage:
    return {"epochs": epochs, "lr": lr, "dropout": 0.0}


def twentieth(suffix: str, *criterion: Stage) -> list[Stage]:
    """Half the layers, a trimmed vocabulary, narrow embeddings, 4 bits; as the recipe `narrow`, without its first phase."""
    teacher = {"teacher": "teacher"} if criterion else {}
    narrow = [{"use": "vocabulary"}, {"use": "embeddings", "width": 128}, *criterion]
    return [
        {
            "name": f"student{suffix}",
            "start": "teacher",
            "methods": [SHAPE, *criterion],
            "train": trained(3.0, 2e-4),
            **teacher,
        },
        {"name": f"narrow{suffix}", "methods": narrow, "train": trained(1.0, 1e-4), **teacher},
        {"name": f"gptq{suffix}", "methods": [{"use": "gptq", "bits": 4}]},
    ]


def fiftieth() -> list[Stage]:
    """Frequent tokens only, narrower embeddings, 2 bits; as the recipe `terse`, from the distilled student."""
    terse = [{"use": "vocabulary", "min_count": 2}, {"use": "embeddings", "width": 96}, LOGITS]
    return [
        {
            "name": "terse",
            "start": "student",
            "teacher": "teacher",
            "methods": terse,
            "train": trained(1.0, 1e-4),
        },
        {
            "name": "qat",
            "teacher": "teacher",
            "methods": [{"use": "qat", "bits": 2}, LOGITS],
            "train": trained(2.0, 2e-4),
        },
    ]


SHORT = [
    {"name": "rtn", "start": "teacher", "methods": [{"use": "rtn", "bits": 3}]},
    {"name": "half", "start": "teacher", "teacher": "teacher", "methods": [SHAPE, LOGITS], "train": trained(1.0, 2e-4)},
]


def recipe(task: str, seed: int, data: str, stacks: bool) -> dict[str, Any]:
    """With `stacks` all stages, otherwise two that take seconds to minutes: 3 bits without training, and half the layers."""
    teacher = {"name": "teacher", "methods": [{"use": "freeze"}], "train": trained(1.5, 1e-4)}
    compressed = [*twentieth("", LOGITS), *fiftieth(), *twentieth("-labels")] if stacks else SHORT
    return {
        "model": "minilm",
        "task": task,
        "data": {"path": data, "rows": TASKS[task] if stacks else SHORT_ROWS},
        "seed": seed,
        "quantize": [],
        "stages": [teacher, *compressed],
    }


def trained_plan(task: str, seed: int, data: str, stacks: bool) -> Plan:
    plan = make_plan(parse(recipe(task, seed, data, stacks)), f"changes-{task}-{seed}")
    make(plan, home(task, seed))
    return plan


def home(task: str, seed: int) -> Path:
    return Path("runs") / f"changes-{task}-{seed}"


def model(plan: Plan, stage: str) -> Path:
    return home(plan.recipe.task, plan.recipe.seed) / plan.stage(stage).folder / "model"


def rows_of(task: str, data: str) -> dict[str, Any]:
    """The rows to compare on: of MRPC the labelled test set of the original corpus, of IMDb the first rows by a step."""
    if task == "sst2":
        return {"task": "sst2", "data": data}
    if task == "mrpc":
        return {"data": Path(data) / "mrpc" / "test.parquet", "split": "all"}
    path = Path("runs") / f"imdb-{REVIEWS}.parquet"
    if not path.exists():
        table = parquet.read_table(Path(data) / "imdb" / "test.parquet")
        parquet.write_table(table.take([*range(0, table.num_rows, table.num_rows // REVIEWS)]), path)
    overrides = ["data.text=text", "data.label=label"]
    return {"data": path, "split": "all", "groups": ["rating"], "overrides": overrides}


def run(kind: str, name: str, task: str, data: str) -> dict[str, Any]:
    """One comparison; times are wall clock of the comparison alone."""
    source, seeds = ("sst2" if task == "imdb" else task), SEEDS if kind == "seeds" else SEEDS[:1]
    plans = [trained_plan(source, seed, data, stacks=kind != "seeds") for seed in seeds]
    pairs = [(model(plan, "teacher"), model(plan, name)) for plan in plans]
    (first, second), more = pairs[0], pairs[1:]
    start = time.monotonic()
    found = compare(
        first,
        second,
        a_seeds=[a for a, _ in more],
        b_seeds=[b for _, b in more],
        speed=False,
        **rows_of(task, data),
    ).facts
    seconds = time.monotonic() - start
    return {"kind": kind, "name": name, "task": task, "seconds": seconds, **shortened(found)}


def shortened(found: dict[str, Any]) -> dict[str, Any]:
    """Without texts, the inner layers, and groups but classes that are neither shown nor among the greatest losses."""
    kept = ("churn", "difference", "calibration", "robustness", "pie")
    groups = [
        row
        for number, row in enumerate(found["groups"])
        if number < MOST_GROUPS or row["kind"] == "class" or row["verdict"] in ("loss", "gain")
    ]
    models = {side: {**one, "score": one["score"]["value"]} for side, one in found["models"].items()}
    facts = {name: found[name] for name in kept}
    for one in (facts["calibration"] or {}).values():
        for part in ("before", "after"):
            del one[part]["reliability"]
    if facts["pie"]:
        del facts["pie"]["rows"]
    return {
        "metric": found["task"]["metric"],
        "rows": found["task"]["rows"],
        "models": models,
        "groups": groups,
        "groups_tested": len(found["groups"]),
        "similarity": [row[-1] for row in found["layers"]["similarity"][-1:]],
        **facts,
    }


def everything() -> Iterable[tuple[str, str, str]]:
    yield from (("stack", name, task) for task in TASKS for name in STACKS)
    yield from (("domain", name, "imdb") for name in STACKS)
    yield from (("seeds", name, task) for task in (*TASKS, "imdb") for name in ("rtn", "half"))


if __name__ == "__main__":
    main(__doc__, "changes", ("kind", "name", "task"), everything(), run)
