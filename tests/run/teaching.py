"""Stages that learn from teachers: short runs of them, and what is compared."""

import hashlib

import tiny
from niwaki.meter.ledger import Ledger
from niwaki.run.plan import make_plan
from niwaki.run.runner import run_stage

TRAIN = {"epochs": 1, "batch": 16, "lr": 1e-3, "precision": "fp32"}
LOGITS = {"use": "logits"}


def run(recipe, folder):
    (folder / "stages").mkdir(parents=True, exist_ok=True)
    plan, ledger = make_plan(recipe, "teaching"), Ledger(folder / "ledger.jsonl")
    for stage in plan.stages:
        run_stage(plan, stage, folder, ledger, lambda: False)
    return [folder / stage.folder for stage in plan.stages]


def weights(stage):
    return hashlib.sha256((stage / "model" / "model.safetensors").read_bytes()).hexdigest()


def learner(name="learner", methods=(LOGITS,), teacher="teacher", start="teacher", **train):
    return {"name": name, "start": start, "teacher": teacher, "methods": list(methods), "train": {**TRAIN, **train}}


def two_phases(**second):
    student = {"use": "student", "layers": 2, "hidden": 16, "heads": 4}
    first = learner("layers", [student, {"use": "tinybert", "prediction": 0.0}], augmentations=1)
    return first, learner("answers", start="layers", **{"augmentations": 1, **second})


def planned(recipe, **train):
    return make_plan(recipe(learner(**train)), "x")


def guest(folder, **more):
    folder.mkdir()
    tiny.model(**more).save(folder)
    return str(folder)


def split_otherwise(folder, piece):
    """A stage that starts from a model that knows `piece` and not "good"."""
    stage = {"name": folder.name, "model": guest(folder), "train": TRAIN}
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace('"good"', f'"{piece}"'))
    return stage
