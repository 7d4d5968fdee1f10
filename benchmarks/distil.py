"""Distils students of several shapes and compares them with their teachers: `python benchmarks/distil.py DATA [variant[/task[/seed]] …]`.

DATA is a folder of tasks (docs/tasks.md). Teachers come from benchmarks/glue.py (for `mpnet4` with `--mpnet`) and benchmarks/demo.py;
run these first. Appends a record per variant, task and seed to results/distil.jsonl. Stages are stored in runs/distil-… and reused.
`--list` shows the jobs.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from distil_variants import (
    CONTROLS,
    MORE,
    MORE_SENTENCES,
    MPNET_EPOCHS,
    MPNET_ROWS,
    NARROW,
    NETWORK_EPOCHS,
    NETWORKS,
    PAIRED,
    PAIRS,
    PRETRAINED,
    REST,
    REST_WORDS,
    RESTED,
    SIZES,
    VARIANTS,
    sentences,
)
from jobs import both, home, main, make, raced, stages_of

from niwaki.core.files import read_json, write_text
from niwaki.data import unlabelled
from niwaki.evaluate.glue import task_score
from niwaki.evaluate.quality import difference
from niwaki.models.model import load_folder
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

TASKS = ("rotten_tomatoes", "mrpc", "cola", "rte", "stsb", "sst2")
SEEDS = {"rotten_tomatoes": (0, 1, 2), "mrpc": (0, 1, 2)}  # elsewhere one seed
ABLATED = ("rotten_tomatoes", "mrpc")


def write_pairs(data: str) -> None:
    """Writes the texts of two large pair tasks, without labels, to a file."""
    if not PAIRS.exists():
        found = [tuple(row) for task in PAIRED for row in unlabelled.texts(Path(data) / task / "train.parquet")]
        write_text(
            PAIRS, "\n".join(json.dumps(dict(zip(("sentence1", "sentence2"), row, strict=True))) for row in found)
        )


def write_rest(data: str) -> None:
    """Writes the longer SST-2 training rows that the teacher did not see, without labels, to a file."""
    if not REST.exists():
        given = planned("mpnet4-narrow", "sst2", 0, data).task
        known = {text.strip() for part in given.splits().values() for text in given.inputs(part)}
        every = (
            text for text in unlabelled.texts(Path(data) / "sst2" / "train.parquet") if len(text.split()) >= REST_WORDS
        )
        write_text(REST, "\n".join(text for text in every if text not in known))
    if not MORE.exists():
        films = sentences().read_text(encoding="utf-8").splitlines()[:MORE_SENTENCES]
        write_text(MORE, "\n".join([REST.read_text(encoding="utf-8"), *films]))


def teacher_of(variant: str, task: str, seed: int) -> Path:
    """The fine-tuned model of an earlier benchmark; SST-2 has one for all seeds."""
    name = (
        f"demo-seed-{seed}"
        if task == "rotten_tomatoes"
        else f"glue-{'mpnet' if 'mpnet' in variant else 'minilm'}-{task}"
    )
    plan = read_json(Path("runs") / name / "plan.json")
    stages = next((one["stages"] for one in plan.get("repeats", ()) if one["seed"] == seed), plan["stages"])
    return Path("runs") / name / next(stage["folder"] for stage in stages if stage["name"] == "teacher") / "model"


def planned(variant: str, task: str, seed: int, data: str) -> Plan:
    """The unchanged teacher, then the stages of the variant."""
    rows = (
        {} if task == "rotten_tomatoes" else {"path": data, **(MPNET_ROWS.get(task, {}) if "mpnet" in variant else {})}
    )
    stages = VARIANTS[variant](task)
    model, first = (
        (teacher_of(variant, task, seed), [{"name": "teacher"}]) if variant not in PRETRAINED else ("minilm", [])
    )
    return make_plan(
        parse(
            {"model": str(model), "task": task, "data": rows, "seed": seed, "quantize": [], "stages": [*first, *stages]}
        ),
        variant,
    )


def run(variant: str, task: str, seed: int, data: str) -> dict[str, Any]:
    """The controls, then the student."""
    write_pairs(data)
    if variant in RESTED:
        write_rest(data)
    for one in (*CONTROLS.get(variant, ()), variant):
        plan = planned(one, task, seed, data)
        make(plan, home(task, seed))
    pairs = {name: against(variant, name, task, seed, data) for name in CONTROLS.get(variant, ())}
    return {"variant": variant, "task": task, "seed": seed, **summary(plan, home(task, seed)), "pairs": pairs}


def against(variant: str, control: str, task: str, seed: int, data: str) -> dict[str, Any]:
    """The control's score, and the paired difference on the same test rows over this seed and those before it that are there."""
    both = [[last_folder(who, task, one, data) for who in (variant, control)] for one in range(seed + 1)]
    both = [pair for pair in both if all((folder / "example_stats.npy").exists() for folder in pair)]
    own, theirs = ([np.load(pair[place] / "example_stats.npy") for pair in both] for place in (0, 1))
    score = read_json(both[-1][1] / "result.json")["score"]
    result = difference(planned(control, task, seed, data).task, own, theirs)
    return {"score": {key: score[key] for key in ("value", "low", "high")}, "seeds": len(both), **result}


def last_folder(variant: str, task: str, seed: int, data: str) -> Path:
    """The folder of the last stage, finished or not."""
    return home(task, seed) / planned(variant, task, seed, data).stages[-1].folder


def summary(plan: Plan, folder: Path) -> dict[str, Any]:
    names, folders = ("teacher", "student"), both(plan, folder)
    results = [read_json(one / "result.json") for one in folders]
    return {
        "metric": plan.task.metric,
        "scores": {name: task_score(result) for name, result in zip(names, results, strict=True)},
        "intervals": {
            name: [result["score"]["low"], result["score"]["high"]] for name, result in zip(names, results, strict=True)
        },
        "steps": [read_json(folder / stage.folder / "result.json")["training"]["steps"] for stage in plan.stages[1:]],
        "encoder": [encoder_parameters(one / "model") for one in folders],
        **{key: [result[key] for result in results] for key in ("parameters", "bytes", "flops")},
        "faster": raced(plan, folder)["made"]["ratio"],
        **stages_of(plan, folder),
    }


def encoder_parameters(folder: Path) -> int:
    """Parameters of the layers, without embeddings and head."""
    anatomy = load_folder(folder).anatomy
    return sum(parameter.numel() for layer in anatomy.layers for parameter in layer.module.parameters())


def everything() -> list[tuple[str, str, int]]:
    first = [
        (variant, task, seed)
        for seed in (0, 1, 2)
        for variant in ("half", "fast", "thin")
        for task in TASKS
        if seed in SEEDS.get(task, (0,))
    ]
    rest = [name for name in VARIANTS if name.startswith("half-")]
    return [
        *first,
        *((variant, task, seed) for seed in (0, 1, 2) for task in ABLATED for variant in rest),
        *((kind, task, seed) for seed in (0, 1, 2) for kind in NETWORKS for task in NETWORK_EPOCHS),
        ("exits", "sst2", 0),
        *((variant, task, 0) for variant in ("mpnet4", "mpnet4-vocabulary", *NARROW) for task in MPNET_EPOCHS),
        *((variant, "sst2", 0) for variant in RESTED),  # its training rows are phrases, its test rows sentences
        *((f"transfer-{texts}", "rotten_tomatoes", 0) for texts in SIZES),
    ]


if __name__ == "__main__":
    main(__doc__, "distil", ("variant", "task", "seed"), everything(), run)
