"""The worker process: opens the models, answers batches that come through a pipe, and beats while it is alive.

The heartbeat is a number in shared memory that the loop itself sets: before each batch, and ten times a second while it waits. A
worker that hangs in a computation, or that the system has stopped, does not beat.
"""

import contextlib
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Protocol

import numpy as np

from niwaki.answers._capabilities import TwoPass
from niwaki.answers._images import ImageInputs
from niwaki.api.heads import load_heads
from niwaki.core.errors import InputError, NiwakiError, UsageError, first_line
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.engines.cascade import Cascade
from niwaki.engines.encoder_cache import EncoderCache
from niwaki.engines.heads import ALL, MAIN, Heads
from niwaki.engines.input_encoder import BadInputs
from niwaki.engines.predictor import Predictor
from niwaki.serve.jobs import BatchResult

BEAT_SECONDS = 0.1
WARM_UP = (
    "a",
    "The first text that a model reads takes longer than all others, so it is read before any request. " * 4,
)


class Beat(Protocol):
    value: float


@dataclass(frozen=True)
class ModelSource:
    """A model to serve: the name in requests, its folder or run, and the head; `all` stands for all heads of the folder at once."""

    name: str
    path: str
    head: str = ""


def run_worker(
    pipe: Connection, beat: Beat, sources: Sequence[ModelSource], engine: str, threads: int, cache_bytes: int = 0
) -> None:
    """The whole life of a worker. It ends when the web process closes the pipe, and leaves Ctrl-C and SIGTERM to that process."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        models = open_models(sources, engine, threads, cache_bytes)
    except NiwakiError as error:
        pipe.send(error)
        return
    pipe.send({name: describe(model) for name, model in models.items()})
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        serve_batches(pipe, beat, models)


def serve_batches(pipe: Connection, beat: Beat, models: Mapping[str, Predictor]) -> None:
    while True:
        beat.value = time.monotonic()
        if pipe.poll(BEAT_SECONDS):
            job = pipe.recv()
            if job is None:
                return
            name, inputs = job
            beat.value = time.monotonic()
            pipe.send(answer_batch(models[name], inputs))


def open_models(
    sources: Sequence[ModelSource], engine: str, threads: int, cache_bytes: int = 0
) -> dict[str, Predictor]:
    """All models, each after it has read a text, because the first pass allocates memory and chooses kernels."""
    from niwaki.api.loading import load

    found = shared_heads(sources, engine, threads, cache_bytes)
    for source in sources:
        if source.head != ALL and source.name not in found:
            found[source.name] = load(source.path, engine, threads or None, head=source.head)
    models = {source.name: found[source.name] for source in sources if source.name in found}
    for model in models.values():
        reject_images(model)
        for text in WARM_UP:
            answer_batch(model, [text])
    return models


def reject_images(model: Predictor) -> None:
    """An input of such a model may be a path, and clients must not read files of the server."""
    if isinstance(model.answer_type, ImageInputs):
        raise InputError(f"serve: {model.folder} reads images, and the server takes texts only; use `niwaki predict`")


def shared_heads(
    sources: Sequence[ModelSource], engine: str, threads: int, cache_bytes: int = 0
) -> dict[str, Predictor]:
    """The heads of each folder on one trunk in torch, and all of them together if they take the same inputs. None without torch, or if
    another engine was chosen: then each is a model of its own."""
    paths = dict.fromkeys(source.path for source in sources if source.head)
    if engine not in ("auto", "torch") or not find_spec("torch"):
        return {}
    found: dict[str, Predictor] = {}
    for path in paths:
        cache = EncoderCache(cache_bytes)  # one for each folder, so that a busy one does not empty the others
        own = {source.head or MAIN: source.name for source in sources if source.path == path}
        heads = load_heads(path, [head for head in own if head != ALL], threads or None, cache)
        found |= {own[head]: one for head, one in heads.heads.items()}
        if ALL in own and heads.take_alike():
            found[own[ALL]] = heads
    return found


def describe(model: Predictor) -> Json:
    """What the web process must know of a model."""
    inputs = list(WARM_UP) * 2
    result = answer_batch(model, inputs)
    return {
        "kind": "heads" if isinstance(model, Heads) else str(model.answer_type.to_json()["kind"]),
        "labels": model.labels,
        "engine": model.engine,
        "folder": str(model.folder),
        "max_tokens": model.max_tokens,
        **({"steps": step_names(model)} if isinstance(model, Cascade) else {}),
        "process": os.getpid(),
        "warm_up": {
            "characters": sum(map(len, inputs)),
            "tokens": sum(result.tokens),
            "texts": len(inputs),
            "seconds": result.seconds,
        },
    }


def step_names(cascade: Cascade) -> list[str]:
    """What a cascade tries in turn: its models, and the exits of these."""
    return [f"{step.folder} after {step.layers} layers" if step.layers else step.folder for step in cascade.plan.steps]


def answer_batch(model: Predictor, inputs: Sequence[object]) -> BatchResult:
    """An answer for each input, or the reason why it has none. Never raises: one input must not fail its whole batch."""
    from niwaki.meter import meter

    began = time.perf_counter()
    answers: list[Json | str] = [fault_of(model, given) or "" for given in inputs]
    tokens = [0] * len(inputs)
    valid = [number for number, fault in enumerate(answers) if not fault]
    with meter() as window:
        found = predict_each(model, [inputs[number] for number in valid])
    for number, (answer, count) in zip(valid, found, strict=True):
        answers[number], tokens[number] = answer, count
    return BatchResult(answers, tokens, time.perf_counter() - began, window.reading.joules)


def fault_of(model: Predictor, given: object) -> str | None:
    """What is wrong with an input, without its number; None if it can be answered."""
    try:
        model.check([as_input(given)])
    except (InputError, UsageError) as error:
        return str(error).removeprefix("texts.0: ")
    return None


def as_input(given: object) -> object:
    """JSON has lists where an input of several texts is a tuple."""
    return tuple(given) if isinstance(given, list) else given


def predict_each(model: Predictor, inputs: Sequence[object]) -> list[tuple[Json | str, int]]:
    """Answer and number of tokens of each checked input. If a batch fails, its inputs are computed one by one."""
    if not inputs:
        return []
    try:
        return predict(model, [as_input(given) for given in inputs])
    except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
        if len(inputs) > 1:
            return [found for given in inputs for found in predict_each(model, [given])]
        if isinstance(error, BadInputs):
            return [(error.row_error, 0)]
        info(f"niwaki: {model.folder}: a text could not be answered ({first_line(error)})")
        return [("the model failed on it; the log of the server says why", 0)]


def predict(model: Predictor, inputs: Sequence[object]) -> list[tuple[Json | str, int]]:
    """Answers as records, and the number of tokens of each input."""
    checked = model.check(inputs)
    encoded = model.tokenize(checked)
    lengths = np.bincount(encoded.input_index, weights=encoded.lengths, minlength=len(checked))
    if isinstance(model, Cascade) and not isinstance(model.answer_type, TwoPass):
        answers, steps = model.predict_with_steps(checked, encoded)
        records = [{**one.record(), "step": int(step)} for one, step in zip(answers, steps, strict=True)]
    else:
        records = [one.record() for one in model.answers(checked, encoded)]
    return list(zip(records, map(int, lengths), strict=True))
