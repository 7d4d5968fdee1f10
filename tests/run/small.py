"""A whole recipe that takes seconds: teacher, student, pruned with vocabulary, int8, on a tiny model and rows made here."""

import functools
import gc
import hashlib
import json
import multiprocessing.context
import multiprocessing.process
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from niwaki.evaluate import speed
from niwaki.run import race

PRELOADED = [  # what a run imports, late or early: three seconds that each child would need for itself
    "niwaki.cli._app",
    "niwaki.api",
    "niwaki.run.stage",
    "niwaki.report",
    "niwaki.evaluate.baseline",
    "sklearn.svm",
    "sklearn.feature_extraction.text",
    "onnx",
    "onnxruntime",
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.models.bert.modeling_bert",
]
RECIPE = """\
model = {model}
task = "classification"
quantize = []
data = {{ path = {rows}, max_tokens = 24 }}

[[stages]]
name = "teacher"
train = {{ epochs = {epochs}, lr = 2e-3, batch = 16, save_seconds = {save} }}

[[stages]]
name = "student"
teacher = "teacher"
methods = [{{ use = "student", layers = 2 }}, {{ use = "logits" }}]
train = {{ epochs = {epochs}, lr = 2e-3, batch = 16, validations = 2, save_seconds = {save} }}

[[stages]]
name = "pruned"
teacher = "teacher"
methods = [{{ use = "vocabulary" }}, {{ use = "heads", keep = 0.5 }}, {{ use = "ffn", keep = 0.5, multiple = 8 }}, {{ use = "logits" }}]
train = {{ epochs = {epochs}, lr = 1e-3, batch = 16, save_seconds = {save} }}

[[stages]]
name = "int8"
methods = [{{ use = "int8" }}]
"""


def write_recipe(folder: Path, model: Path, rows: Path, epochs: float = 6, save: float = 60.0) -> Path:
    path = folder / "small.toml"
    path.write_text(RECIPE.format(model=json.dumps(str(model)), rows=json.dumps(str(rows)), epochs=epochs, save=save))
    return path


def measure_little(patch: pytest.MonkeyPatch) -> None:
    """What a run measures is measured less often, and nothing is flushed: for tests of what comes of it."""
    patch.setattr(os, "fsync", lambda handle: None)
    patch.setattr("niwaki.evaluate.quality.RESAMPLES", 100)
    patch.setattr(speed, "race", functools.partial(speed.race, singles=2))
    patch.setattr(race, "resident_bytes", lambda folder: 1)


def begin(
    arguments: list[str], log: Path, prepare: Callable[[], None] | None = None
) -> multiprocessing.process.BaseProcess:
    """Starts `niwaki …` in a new process, forked from one in which everything is imported. `prepare` is called there first."""
    process = forkserver().Process(target=_child, args=(arguments, str(log)), kwargs={"prepare": prepare})
    process.start()
    return process


def forkserver() -> multiprocessing.context.ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def _child(
    arguments: list[str],
    log: str,
    flush: Callable[[int], None] = lambda handle: None,
    prepare: Callable[[], None] | None = None,
) -> None:
    """Without flushing to disk, because a killed process loses nothing that it wrote, and with few measurements."""
    import torch

    from niwaki.cli._app import run
    from niwaki.evaluate import quality, speed

    gc.freeze()  # modules that were imported before the fork live until the end
    quality.RESAMPLES, speed.race = 100, functools.partial(speed.race, singles=2)
    race.resident_bytes = lambda folder: 1

    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    torch.set_num_threads(1)
    os.fsync = flush
    if prepare is not None:
        prepare()
    sys.exit(run(arguments))


def weights(run: Path) -> dict[str, str]:
    """Stage folder → sha256 of its weights: equal where the bits are."""
    found = sorted(run.glob("stages/*/model/model.safetensors"))
    return {path.parts[-3]: hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def histories(run: Path) -> dict[str, list]:
    """Stage folder → the lines of its training, which hold no time."""
    found = sorted(run.glob("stages/*/train.jsonl"))
    return {path.parts[-2]: [json.loads(line) for line in path.read_text().splitlines()] for path in found}
