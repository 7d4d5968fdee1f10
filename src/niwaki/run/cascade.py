"""Makes a cascade of saved models: calibrates them, chooses how sure each must be, and saves, races and scores the whole."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from niwaki.answers._choose import kind_of
from niwaki.answers._kind import Input, Rows, Value
from niwaki.core.errors import GateMissed, Refused, UsageError
from niwaki.core.files import committed, require_space, write_json
from niwaki.core.inside import inside
from niwaki.core.log import say
from niwaki.core.sealed import known_as
from niwaki.engines.cascade import CASCADE, Cascade, Plan, Step, engine_for, exits_in, is_cascade, refuse_unlike
from niwaki.engines.exits import exits_of
from niwaki.engines.predictor import Predictor, refuse_folder
from niwaki.evaluate.quality import difference
from niwaki.evaluate.speed import race
from niwaki.evaluate.thresholds import Chosen, choose, temperature
from niwaki.models.config_rules import CONFIG
from niwaki.tasks._task import Task

CHOSEN = "chosen.json"  # beside the plan, for people: how it was chosen and what it gave
PICKLED = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".h5", ".msgpack")  # weights in forms that are not read
TEXTS = 256  # of the race


@dataclass(frozen=True)
class Part:
    """What one step of the cascade asks: a model, or one of its exits."""

    source: Path
    model: Predictor
    exit: int

    @property
    def layers(self) -> int:
        """How many run; 0 is all."""
        exits = exits_in(self.model)
        return exits[self.exit] if self.exit < len(exits) else 0

    @property
    def name(self) -> str:
        return known_as(self.source) + (f" to layer {self.layers}" if self.layers else "")

    def logits(self, rows: Rows) -> np.ndarray:
        if not self.layers:
            return self.model.logits(rows)
        return self.model.exited(rows, lambda number, some: np.full(len(some), number == self.exit))[0]

    def values(self, inputs: Sequence[Input]) -> list[Value]:
        rows = self.model.encode(inputs)
        return self.model.read(self.logits(rows), rows, inputs, bare=True)


@dataclass(frozen=True)
class Heard:
    """What a part says of the validation rows."""

    outcomes: np.ndarray
    sureness: np.ndarray  # (rows,)
    temperature: float


def heard(part: Part, task: Task, table: pa.Table) -> Heard:
    model, inputs = part.model, task.inputs(table)
    rows = model.encode(inputs)
    logits, heat = part.logits(rows), 1.0
    outcomes = task.outcomes(model.read(logits, rows, inputs, bare=True), table)
    if model.kind.one_of:
        heat = temperature(model.kind.rivals(logits, rows), outcomes[:, 1])
    return Heard(outcomes, model.kind.sureness(logits / heat, rows, inputs, model.labels), heat)


def parts_of(sources: Sequence[Path], engine: str) -> list[Part]:
    models = [(source, Predictor(source, engine_of(source, engine))) for source in sources]
    refuse_unlike(models)
    return [Part(source, model, number) for source, model in models for number in range(len(exits_in(model)) + 1)]


def engine_of(source: Path, engine: str) -> str:
    """What is asked for, or of a model with exits one that texts can leave."""
    config = refuse_folder(source)
    leaves = exits_of(config) and kind_of(config, str(source / CONFIG)).leaves
    return engine_for(source, engine) if leaves else engine


def make(
    sources: Sequence[Path], task: Task, out: Path, keep: float, level: float, engine: str = "", force: bool = False
) -> dict[str, Any]:
    """The folder `out`, and what came of it. GateMissed, and nothing written, where the rows cannot show that the share is kept."""
    refuse_asked(sources, out, keep, level, force)
    parts = parts_of(sources, engine)
    if len(parts) < 2:
        raise UsageError("cascade: give two models or more, the cheapest first, or one that was trained with exits")
    task.refuse_other(parts[0].model.kind, parts[0].model.labels, sources[0])
    rows = task.splits()["validation"]
    each = [heard(part, task, rows) for part in parts]
    outcomes = [one.outcomes for one in each]
    chosen = choose(task, [one.sureness for one in each], outcomes, keep, level)
    if chosen is None:
        raise GateMissed(unshown(task, outcomes, keep, level))
    say_if_not_best(task, parts, outcomes)
    folders = {source: f"model-{number}" for number, source in enumerate(sources)}
    steps = [
        Step(folder=folders[part.source], layers=part.layers, temperature=one.temperature, threshold=0.0 if part is parts[-1] else chosen.threshold)
        for part, one in zip(parts, each, strict=True)
    ]  # fmt: skip
    plan = Plan(steps=steps, keep=keep, level=level, task=task.name, rows=rows.num_rows)
    with committed(out) as folder:
        for source, name in folders.items():
            copy(source, folder / name)
        write_json(folder / CASCADE, plan.model_dump())
        told = {"out": str(out), **about(plan, task, parts, outcomes, chosen)}
        told |= {"test": on_test(Cascade(folder, engine), parts[-1], task), "speed": raced(folder, engine, parts, task)}
        write_json(folder / CHOSEN, told)
    say_if_slower(told["speed"]["cascade"]["ratio"])
    return told


def refuse_asked(sources: Sequence[Path], out: Path, keep: float, level: float, force: bool) -> None:
    """Before any model is loaded."""
    if len({source.resolve() for source in sources}) < len(sources):
        raise UsageError("cascade: a model is given twice; give different ones, the cheapest first")
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


def unshown(task: Task, outcomes: Sequence[np.ndarray], keep: float, level: float) -> str:
    """That the rows are too few to show anything, or the models too far apart."""
    rows = len(outcomes[-1])
    score = task.scores(outcomes[-1])[task.metric]
    need = int(np.ceil(np.log(1 - level) / np.log(1 - max(1e-9, (1 - keep) * score))))
    few = f", and without a single loss it takes about {need} rows" if need > rows else ""
    return f"{rows} validation rows do not show, {level:.0%} sure, that {keep:.1%} of the {task.metric} is kept when even a few inputs stop early{few}; ask to keep less, or give more rows"


def say_if_not_best(task: Task, parts: Sequence[Part], outcomes: Sequence[np.ndarray]) -> None:
    scores = [task.scores(one)[task.metric] for one in outcomes]
    best = int(np.argmax(scores))
    if scores[best] > scores[-1]:
        say(f"{parts[best].name}: scores {scores[best]:.4f} on the validation rows, the last model {scores[-1]:.4f}; the share kept is of the last model's")  # fmt: skip


def say_if_slower(ratio: dict[str, float]) -> None:
    """What moves on is paid for twice, and too much may."""
    if ratio["high"] < 1:
        say(f"cascade: {ratio['value']:.2f} × as fast as the last model alone; too few inputs stop early to pay for asking twice. Ask to keep less, give a cheaper first model, or take the last alone")  # fmt: skip


def about(
    plan: Plan, task: Task, parts: Sequence[Part], outcomes: Sequence[np.ndarray], chosen: Chosen
) -> dict[str, Any]:
    """How it was chosen, and what it gives on the rows it was chosen on."""
    scores = [task.scores(one)[task.metric] for one in outcomes]
    shares = stops(chosen.answered_by, len(parts))
    entries = [
        {"source": str(part.source), "layers": part.layers, "engine": part.model.engine, "temperature": step.temperature, "score": score, "answers": share}
        for part, step, score, share in zip(parts, plan.steps, scores, shares, strict=True)
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


def on_test(cascade: Cascade, best: Part, task: Task) -> dict[str, Any]:
    """Rows that no threshold was chosen on."""
    rows = task.splits()["test"]
    inputs = task.inputs(rows)
    found, by = cascade.settled(inputs, cascade.encode(inputs), bare=True)
    ours, theirs = (task.outcomes(one, rows) for one in (found, best.values(inputs)))
    scores = [task.scores(one)[task.metric] for one in (ours, theirs)]
    told = {"rows": len(ours), "score": scores[0], "best": scores[1], "kept": share_of(*scores)}
    return {**told, "answers": stops(by, len(cascade.plan.steps)), "paired": difference(task, [ours], [theirs])}


def raced(folder: Path, engine: str, parts: Sequence[Part], task: Task) -> dict[str, Any]:
    """Time and energy of the cascade and of each of its models, or exits, alone, taken in turns on test inputs."""
    inputs = list(task.inputs(task.splits()["test"]))[:TEXTS]
    names = [f"{number + 1} {part.name}" for number, part in enumerate(parts)]
    runners: dict[str, Callable[..., Any]] = {name: part.values for name, part in zip(names, parts, strict=True)}
    runners["cascade"] = Cascade(folder, engine).values
    found = race(runners, inputs, reference=names[-1])
    return {
        name: {
            "per_second": entry["throughput"]["value"], "seconds_per_input": 1 / entry["throughput"]["value"],
            "joules_per_1000": entry["energy_per_1000"]["joules"], "joules_low": entry["energy_per_1000"]["joules_low"],
            "joules_high": entry["energy_per_1000"]["joules_high"], "tier": entry["energy_per_1000"]["tier"], "ratio": entry["ratio"],
            "latency_ms": entry["latency_ms"],
        }
        for name, entry in found["contenders"].items()
    }  # fmt: skip
