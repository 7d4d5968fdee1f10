"""Objectives at equal time on the same text: `python benchmarks/pretraining.py DATA --text TEXT [--minutes 30] [names …]`. Keep the machine quiet.

TEXT is made by pretraining_text.py; DATA is a folder of tasks (docs/tasks.md) with `blimp`. For each objective of `TABLE` a network is trained
for so many minutes, then scored: perplexity (of its own kind), BLiMP, and five GLUE tasks after fine-tuning. `none` is the same network
without pretraining. The epochs that fill the time follow from the time of two short runs. Appends to results/pretraining.jsonl; recorded jobs
are not repeated, and a job that was killed goes on. Runs are stored in runs/pretraining-….
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jobs import main, make, spent_on

from niwaki import evaluate
from niwaki.core.files import read_json
from niwaki.core.json_types import Json
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

SHAPE: Json = {"layers": 6, "hidden_size": 256, "heads": 4, "ffn_size": 1024, "vocab_size": 8000}
LENGTH, BATCH = 64, 32
SHORT = (0.004, 0.012)  # epochs of the two runs that are timed
NOTHING = 1e-6  # epochs of `none`: one step
GLUE = {"cola": 5, "sst2": 1, "mrpc": 4, "rte": 4, "stsb": 4}  # epochs of fine-tuning
# name: objective, family, learning rate, further settings of the method from_scratch
TABLE: dict[str, tuple[str | Json, str, float, Json]] = {
    "none": ("masked_lm", "bert", 1e-3, {}),
    "masked_lm": ("masked_lm", "bert", 1e-3, {}),
    "masked_lm, whole words": ({"use": "masked_lm", "unit": "word"}, "bert", 1e-3, {}),
    "masked_lm, spans": ({"use": "masked_lm", "unit": "span"}, "bert", 1e-3, {}),
    "masked_lm, static": ({"use": "masked_lm", "dynamic": False}, "bert", 1e-3, {}),
    "masked_lm, albert": ("masked_lm", "albert", 1e-3, {"embedding_size": 128}),
    "causal_lm, bert": ("causal_lm", "bert", 1e-3, {}),
    "causal_lm": ("causal_lm", "gpt2", 3e-3, {}),
    "masked_next_token": ("masked_next_token", "gpt2", 3e-3, {}),
    "masked_next_token, words": ({"use": "masked_next_token", "unit": "word"}, "gpt2", 3e-3, {}),
}


def recipe(name: str, seed: int, text: str, epochs: float) -> Json:
    objective, family, lr, more = TABLE[name]
    method = {"use": "from_scratch", "family": family, "positions": LENGTH, **SHAPE, **more}
    train = {"objective": objective, "epochs": epochs, "batch": BATCH, "lr": lr, "dropout": 0.0, "keep": "last"}
    return {
        "model": "minilm",
        "task": "language_modeling",
        "data": {"path": text, "max_tokens": LENGTH},
        "seed": seed,
        "quantize": [],
        "baselines": False,
        "stages": [{"name": "language_model", "methods": [method], "train": {**train, "validations": 0}}],
    }


def trained(name: str, seed: int, text: str, epochs: float) -> tuple[Plan, Path]:
    plan = make_plan(parse(recipe(name, seed, text, epochs)), name)
    folder = Path("runs") / f"pretraining-{name.replace(', ', '-').replace(' ', '-')}-{seed}"
    make(plan, folder)
    return plan, folder


def epochs_in(minutes: float, name: str, seed: int, text: str) -> float:
    """What is trained in so many minutes, from the difference between two short runs: they spend the same on all but training."""
    if name == "none":
        return NOTHING
    return epochs_filling(minutes, lambda epochs: seconds_of(*trained(name, seed, text, epochs)))


def epochs_filling(minutes: float, seconds: Callable[[float], float]) -> float:
    """`seconds` trains so many epochs and returns the time."""
    first, second = map(seconds, SHORT)
    return round(60 * minutes * (SHORT[1] - SHORT[0]) / max(1e-3, second - first), 4)


def seconds_of(plan: Plan, folder: Path) -> float:
    return float(sum(spent_on(stage, folder)["seconds"] for stage in plan.stages))


def fine_tuned(task: str, epochs: int, model: Path, seed: int, data: str, home: Path) -> Json:
    """The score of the model on a GLUE task, and what it took."""
    stage = {"name": "teacher", "methods": [{"use": "pooled_head"}], "train": {"epochs": epochs, "lr": 3e-4}}
    values = {"model": str(model), "task": task, "data": {"path": data}, "seed": seed, "baselines": False}
    plan = make_plan(parse({**values, "quantize": [], "stages": [stage]}), task)
    make(plan, home / task)
    result = read_json(home / task / plan.stages[0].folder / "result.json")
    return {"score": result["score"]["value"], "spent": spent_on(plan.stages[0], home / task)}


def run(name: str, seed: int, data: str, text: str = "", minutes: str = "") -> dict[str, Any]:
    length = float(minutes or 30)
    text = str(Path(text or Path(data) / "pretraining").resolve())
    epochs = epochs_in(length, name, seed, text)
    plan, folder = trained(name, seed, text, epochs)
    home = folder / plan.stages[0].folder
    model, result = (home / "model").resolve(), read_json(home / "result.json")
    blimp = evaluate(model, task="blimp", data=data)
    glue = {task: fine_tuned(task, count, model, seed, data, folder / "glue") for task, count in GLUE.items()}
    return {
        "objective": name,
        "seed": seed,
        "minutes": length,
        "epochs": epochs,
        "text": Path(text).name,
        "recipe": json.loads(json.dumps(recipe(name, seed, "", epochs))),
        "score": result["score"],
        "blimp": {metric: score["value"] for metric, score in blimp["all"].items()},
        "glue": {task: found["score"] for task, found in glue.items()},
        "spent": spent_on(plan.stages[0], folder),
        "glue_joules": sum(found["spent"]["joules"] or 0 for found in glue.values()),
    }


if __name__ == "__main__":
    main(
        __doc__,
        "pretraining",
        ("objective", "seed"),
        [(name, 0) for name in TABLE],
        run,
        text="folder of texts, made by pretraining_text.py; default: the folder `pretraining` in DATA",
        minutes="minutes of training for each objective; default: 30",
    )
