"""Makes a cascade of saved models: calibrates them, chooses how sure each must be, and saves, races and scores the whole."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from niwaki.core.errors import GateMissed, Refused, UsageError
from niwaki.core.files import committed, require_space, write_json
from niwaki.core.inside import inside
from niwaki.core.log import say
from niwaki.core.sealed import known_as
from niwaki.engines.cascade import CASCADE, Cascade, Plan, Step, is_cascade, refuse_unlike
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.quality import difference
from niwaki.evaluate.speed import race
from niwaki.evaluate.thresholds import Chosen, choose, temperature
from niwaki.tasks._task import Task

CHOSEN = "chosen.json"  # beside the plan, for people: how it was chosen and what it gave
PICKLED = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".h5", ".msgpack")  # weights in forms that are not read
TEXTS = 256  # of the race


def make(
    sources: Sequence[Path], task: Task, out: Path, keep: float, level: float, engine: str = "", force: bool = False
) -> dict[str, Any]:
    """The folder `out`, and what came of it. GateMissed, and nothing written, where the rows cannot show that the share is kept."""
    refuse_asked(sources, out, keep, level, force)
    models = [Predictor(source, engine) for source in sources]
    refuse_unlike(list(zip(sources, models, strict=True)))
    task.refuse_other_labels(models[0].labels, sources[0])
    rows = task.splits()["validation"]
    gold = task.outcomes(task.gold(rows), rows)[:, 1]
    logits = [answered(model, task, rows) for model in models]
    heat = [temperature(one, gold) for one in logits]
    outcomes = [task.outcomes(labelled(one, task), rows) for one in logits]
    calibrated = [one / degrees for one, degrees in zip(logits, heat, strict=True)]
    chosen = choose(task, calibrated, outcomes, keep, level)
    if chosen is None:
        raise GateMissed(unshown(task, outcomes, keep, level))
    say_if_not_best(task, sources, outcomes)
    last = len(sources) - 1
    steps = [
        Step(folder=f"model-{number}", temperature=degrees, threshold=chosen.threshold if number < last else 0.0)
        for number, degrees in enumerate(heat)
    ]
    plan = Plan(steps=steps, keep=keep, level=level, task=task.name, rows=len(gold))
    with committed(out) as folder:
        for source, step in zip(sources, steps, strict=True):
            copy(source, folder / step.folder)
        write_json(folder / CASCADE, plan.model_dump())
        told = {"out": str(out), **about(plan, task, sources, models, outcomes, chosen)}
        told |= {"test": on_test(Cascade(folder, engine), models[-1], task), "speed": raced(folder, engine, models, sources, task)}  # fmt: skip
        write_json(folder / CHOSEN, told)
    return told


def refuse_asked(sources: Sequence[Path], out: Path, keep: float, level: float, force: bool) -> None:
    """Before any model is loaded."""
    if len(sources) < 2:
        raise UsageError("cascade: give two models or more, the cheapest first")
    if not 0 < keep <= 1 or not 0.5 < level < 1:
        raise UsageError(
            f"cascade: keep must be over 0 and at most 1, level over 0.5 and below 1 (given: {keep}, {level})"
        )
    for source in sources:
        if is_cascade(source):
            raise Refused(f"{source}: is a cascade; give the models it is made of")
    if out.exists() and not (force and is_cascade(out)):
        mending = "--force makes it anew, or" if is_cascade(out) else "it is no cascade;"
        raise Refused(f"{out}: is there already; {mending} choose another folder with --out")
    require_space(out, sum(path.stat().st_size for source in sources if source.is_dir() for path in files_of(source)), "a copy of the models")  # fmt: skip


def files_of(source: Path) -> list[Path]:
    """What a model is loaded from: the plain files of its folder, but for weights in forms that are not read."""
    return [inside(source, path.name) for path in sorted(source.iterdir()) if path.is_file() and path.suffix not in PICKLED]  # fmt: skip


def copy(source: Path, target: Path) -> None:
    target.mkdir()
    for path in files_of(source):
        shutil.copyfile(path, target / path.name)


def answered(model: Predictor, task: Task, rows: Any) -> np.ndarray:
    return model.logits(model.encode(task.inputs(rows)))


def labelled(logits: np.ndarray, task: Task) -> list[str]:
    return [task.labels[number] for number in logits.argmax(axis=1)]


def unshown(task: Task, outcomes: Sequence[np.ndarray], keep: float, level: float) -> str:
    """That the rows are too few to show anything, or the models too far apart."""
    rows = len(outcomes[-1])
    score = task.scores(outcomes[-1])[task.metric]
    need = int(np.ceil(np.log(1 - level) / np.log(1 - max(1e-9, (1 - keep) * score))))
    few = f", and without a single loss it takes about {need} rows" if need > rows else ""
    return f"{rows} validation rows do not show, {level:.0%} sure, that {keep:.1%} of the {task.metric} is kept when even a few inputs stop early{few}; ask to keep less, or give more rows"


def say_if_not_best(task: Task, sources: Sequence[Path], outcomes: Sequence[np.ndarray]) -> None:
    scores = [task.scores(one)[task.metric] for one in outcomes]
    best = int(np.argmax(scores))
    if scores[best] > scores[-1]:
        say(f"{sources[best]}: scores {scores[best]:.4f} on the validation rows, the last model {scores[-1]:.4f}; the share kept is of the last model's")  # fmt: skip


def about(
    plan: Plan, task: Task, sources: Sequence[Path], models: Sequence[Predictor], outcomes: Sequence[np.ndarray], chosen: Chosen
) -> dict[str, Any]:  # fmt: skip
    """How it was chosen, and what it gives on the rows it was chosen on."""
    scores = [task.scores(one)[task.metric] for one in outcomes]
    shares = stops(chosen.answered_by, len(models))
    entries = [
        {"source": str(source), "engine": model.engine, "temperature": step.temperature, "score": score, "answers": share}
        for source, model, step, score, share in zip(sources, models, plan.steps, scores, shares, strict=True)
    ]  # fmt: skip
    score = task.scores(chosen.outcomes)[task.metric]
    return {
        "task": task.name, "metric": task.metric, "keep": plan.keep, "level": plan.level, "threshold": chosen.threshold,
        "models": entries, "validation": {"rows": plan.rows, "score": score, "best": scores[-1], "kept": share_of(score, scores[-1])},
    }  # fmt: skip


def stops(answered_by: np.ndarray, models: int) -> list[float]:
    """The share of the inputs that each model answers."""
    return (np.bincount(answered_by, minlength=models) / max(1, len(answered_by))).tolist()


def share_of(score: float, best: float) -> float | None:
    return score / best if best > 0 else None


def on_test(cascade: Cascade, best: Predictor, task: Task) -> dict[str, Any]:
    """Rows that no threshold was chosen on."""
    rows = task.splits()["test"]
    found, by = cascade.settled(cascade.encode(task.inputs(rows)))
    ours, theirs = (task.outcomes(labelled(one, task), rows) for one in (found, answered(best, task, rows)))
    scores = [task.scores(one)[task.metric] for one in (ours, theirs)]
    told = {"rows": len(ours), "score": scores[0], "best": scores[1], "kept": share_of(*scores)}
    return {**told, "answers": stops(by, len(cascade.models)), "paired": difference(task, [ours], [theirs])}


def raced(
    folder: Path, engine: str, models: Sequence[Predictor], sources: Sequence[Path], task: Task
) -> dict[str, Any]:
    """Time and energy of the cascade and of each model alone, taken in turns on test inputs."""
    inputs = list(task.inputs(task.splits()["test"]))[:TEXTS]
    names = [f"{number + 1} {known_as(source)}" for number, source in enumerate(sources)]
    runners = {name: model.values for name, model in zip(names, models, strict=True)}
    found = race({**runners, "cascade": Cascade(folder, engine).values}, inputs, reference=names[-1])
    return {
        name: {
            "per_second": entry["throughput"]["value"], "seconds_per_input": 1 / entry["throughput"]["value"],
            "joules_per_1000": entry["energy_per_1000"]["joules"], "joules_low": entry["energy_per_1000"]["joules_low"],
            "joules_high": entry["energy_per_1000"]["joules_high"], "tier": entry["energy_per_1000"]["tier"], "ratio": entry["ratio"],
            "latency_ms": entry["latency_ms"],
        }
        for name, entry in found["contenders"].items()
    }  # fmt: skip
