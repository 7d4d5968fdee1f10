"""Makes a cascade of saved models: calibrates them, chooses how sure each must be, and saves, races and scores the whole."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import EncodedInputs, Input, Value
from niwaki.answers._capabilities import ChoosesOne, confidence_of
from niwaki.answers._from_config import answer_type_of
from niwaki.core.errors import GateMissed, InputError, UsageError
from niwaki.core.files import commit_folder, require_space, write_json
from niwaki.core.log import info
from niwaki.core.model_integrity import display_name
from niwaki.core.path_safety import file_inside
from niwaki.engines.cascade import (
    CASCADE,
    Cascade,
    CascadePlan,
    CascadeStep,
    check_compatible,
    engine_with_exits,
    is_cascade,
    usable_exits,
)
from niwaki.engines.exits import exits_of
from niwaki.engines.predictor import Predictor, check_model_folder
from niwaki.evaluate.quality import difference
from niwaki.evaluate.speed import race
from niwaki.evaluate.thresholds import TunedThreshold, choose_threshold, fit_temperature
from niwaki.models.config_rules import CONFIG
from niwaki.tasks._model_check import check_model_matches
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
        exits = usable_exits(self.model)
        return exits[self.exit] if self.exit < len(exits) else 0

    @property
    def name(self) -> str:
        return display_name(self.source) + (f" to layer {self.layers}" if self.layers else "")

    def logits(self, rows: EncodedInputs) -> np.ndarray:
        if not self.layers:
            return self.model.logits(rows)
        return self.model.logits_with_exits(rows, lambda number, some: np.full(len(some), number == self.exit))[0]

    def values(self, inputs: Sequence[Input]) -> list[Value]:
        rows = self.model.encode(inputs)
        return self.model.decode_answers(self.logits(rows), rows, inputs, bare=True)


@dataclass(frozen=True)
class PartResult:
    """What a part says of the validation rows."""

    example_stats: np.ndarray
    confidence: np.ndarray  # (rows,)
    temperature: float


def evaluate_part(part: Part, task: Task, table: pa.Table) -> PartResult:
    model, inputs = part.model, task.inputs(table)
    rows = model.encode(inputs)
    logits, heat = part.logits(rows), 1.0
    example_stats = task.scorer.example_stats(model.decode_answers(logits, rows, inputs, bare=True), table)
    if isinstance(model.answer_type, ChoosesOne):
        heat = fit_temperature(model.answer_type.candidate_logits(logits, rows), example_stats[:, 1])
    return PartResult(example_stats, confidence_of(model.answer_type, logits / heat, rows, inputs, model.labels), heat)


def parts_of(sources: Sequence[Path], engine: str) -> list[Part]:
    models = [(source, Predictor(source, engine_of(source, engine))) for source in sources]
    check_compatible(models)
    return [Part(source, model, number) for source, model in models for number in range(len(usable_exits(model)) + 1)]


def engine_of(source: Path, engine: str) -> str:
    """What is asked for, or of a model with exits one that texts can leave."""
    config = check_model_folder(source)
    supports_early_exit = exits_of(config) and answer_type_of(config, str(source / CONFIG)).supports_early_exit
    return engine_with_exits(source, engine) if supports_early_exit else engine


def make(
    sources: Sequence[Path], task: Task, out: Path, keep: float, level: float, engine: str = "", force: bool = False
) -> dict[str, Any]:
    """The folder `out`, and what came of it. GateMissed, and nothing written, where the rows cannot show that the share is kept."""
    check_arguments(sources, out, keep, level, force)
    parts = parts_of(sources, engine)
    if len(parts) < 2:
        raise UsageError("cascade: give two models or more, the cheapest first, or one that was trained with exits")
    check_model_matches(task, parts[0].model.answer_type, parts[0].model.labels, sources[0])
    rows = task.splits()["validation"]
    each = [evaluate_part(part, task, rows) for part in parts]
    example_stats = [one.example_stats for one in each]
    chosen = choose_threshold(task, [one.confidence for one in each], example_stats, keep, level)
    if chosen is None:
        raise GateMissed(gate_message(task, example_stats, keep, level))
    warn_if_not_best(task, parts, example_stats)
    folders = {source: f"model-{number}" for number, source in enumerate(sources)}
    steps = [
        CascadeStep(
            folder=folders[part.source],
            layers=part.layers,
            temperature=one.temperature,
            threshold=0.0 if part is parts[-1] else chosen.threshold,
        )
        for part, one in zip(parts, each, strict=True)
    ]
    plan = CascadePlan(steps=steps, keep=keep, level=level, task=task.name, rows=rows.num_rows)
    with commit_folder(out) as folder:
        for source, name in folders.items():
            copy(source, folder / name)
        write_json(folder / CASCADE, plan.model_dump())
        told = {"out": str(out), **about(plan, task, parts, example_stats, chosen)}
        told |= {
            "test": evaluate_on_test(Cascade(folder, engine), parts[-1], task),
            "speed": measure_speed(folder, engine, parts, task),
        }
        write_json(folder / CHOSEN, told)
    warn_if_slower(told["speed"]["cascade"]["ratio"])
    return told


def check_arguments(sources: Sequence[Path], out: Path, keep: float, level: float, force: bool) -> None:
    """Before any model is loaded."""
    if len({source.resolve() for source in sources}) < len(sources):
        raise UsageError("cascade: a model is given twice; give different ones, the cheapest first")
    if not 0 < keep <= 1 or not 0.5 < level < 1:
        raise UsageError(
            f"cascade: keep must be over 0 and at most 1, level over 0.5 and below 1 (given: {keep}, {level})"
        )
    for source in sources:
        if is_cascade(source):
            raise InputError(f"{source}: is a cascade; give the models it is made of")
    if out.exists() and not (force and is_cascade(out)):
        mending = "--force makes it anew, or" if is_cascade(out) else "it is no cascade;"
        raise InputError(f"{out}: is there already; {mending} choose another folder with --out")
    require_space(
        out,
        sum(path.stat().st_size for source in sources if source.is_dir() for path in answer_files_of(source)),
        "a copy of the models",
    )


def answer_files_of(source: Path) -> list[Path]:
    """What a model is loaded from: the plain files of its folder, but for weights in forms that are not read."""
    return [
        file_inside(source, path.name)
        for path in sorted(source.iterdir())
        if path.is_file() and path.suffix not in PICKLED
    ]


def copy(source: Path, target: Path) -> None:
    target.mkdir()
    for path in answer_files_of(source):
        shutil.copyfile(path, target / path.name)


def gate_message(task: Task, example_stats: Sequence[np.ndarray], keep: float, level: float) -> str:
    """That the rows are too few to show anything, or the models too far apart."""
    rows = len(example_stats[-1])
    score = task.scorer.scores(example_stats[-1])[task.metric]
    need = int(np.ceil(np.log(1 - level) / np.log(1 - max(1e-9, (1 - keep) * score))))
    few = f", and without a single loss it takes about {need} rows" if need > rows else ""
    return f"{rows} validation rows do not show, {level:.0%} sure, that {keep:.1%} of the {task.metric} is kept when even a few inputs stop early{few}; ask to keep less, or give more rows"


def warn_if_not_best(task: Task, parts: Sequence[Part], example_stats: Sequence[np.ndarray]) -> None:
    scores = [task.scorer.scores(one)[task.metric] for one in example_stats]
    best = int(np.argmax(scores))
    if scores[best] > scores[-1]:
        info(
            f"{parts[best].name}: scores {scores[best]:.4f} on the validation rows, the last model {scores[-1]:.4f}; the share kept is of the last model's"
        )


def warn_if_slower(ratio: dict[str, float]) -> None:
    """What moves on is paid for twice, and too much may."""
    if ratio["high"] < 1:
        info(
            f"cascade: {ratio['value']:.2f} × as fast as the last model alone; too few inputs stop early to pay for asking twice. Ask to keep less, give a cheaper first model, or take the last alone"
        )


def about(
    plan: CascadePlan, task: Task, parts: Sequence[Part], example_stats: Sequence[np.ndarray], chosen: TunedThreshold
) -> dict[str, Any]:
    """How it was chosen, and what it gives on the rows it was chosen on."""
    scores = [task.scorer.scores(one)[task.metric] for one in example_stats]
    shares = answer_shares(chosen.answered_by, len(parts))
    entries = [
        {
            "source": str(part.source),
            "layers": part.layers,
            "engine": part.model.engine,
            "temperature": step.temperature,
            "score": score,
            "answers": share,
        }
        for part, step, score, share in zip(parts, plan.steps, scores, shares, strict=True)
    ]
    score = task.scorer.scores(chosen.example_stats)[task.metric]
    return {
        "task": task.name,
        "metric": task.metric,
        "keep": plan.keep,
        "level": plan.level,
        "threshold": chosen.threshold,
        "models": entries,
        "validation": {"rows": plan.rows, "score": score, "best": scores[-1], "kept": share_of(score, scores[-1])},
    }


def answer_shares(answered_by: np.ndarray, models: int) -> list[float]:
    """The share of the inputs that each model answers."""
    return (np.bincount(answered_by, minlength=models) / max(1, len(answered_by))).tolist()


def share_of(score: float, best: float) -> float | None:
    return score / best if best > 0 else None


def evaluate_on_test(cascade: Cascade, best: Part, task: Task) -> dict[str, Any]:
    """Rows that no threshold was chosen on."""
    rows = task.splits()["test"]
    inputs = task.inputs(rows)
    found, by = cascade.predict_with_steps(inputs, cascade.encode(inputs), bare=True)
    ours, theirs = (task.scorer.example_stats(one, rows) for one in (found, best.values(inputs)))
    scores = [task.scorer.scores(one)[task.metric] for one in (ours, theirs)]
    told = {"rows": len(ours), "score": scores[0], "best": scores[1], "kept": share_of(*scores)}
    return {**told, "answers": answer_shares(by, len(cascade.plan.steps)), "paired": difference(task, [ours], [theirs])}


def measure_speed(folder: Path, engine: str, parts: Sequence[Part], task: Task) -> dict[str, Any]:
    """Time and energy of the cascade and of each of its models, or exits, alone, taken in turns on test inputs."""
    inputs = list(task.inputs(task.splits()["test"]))[:TEXTS]
    names = [f"{number + 1} {part.name}" for number, part in enumerate(parts)]
    runners: dict[str, Callable[..., Any]] = {name: part.values for name, part in zip(names, parts, strict=True)}
    runners["cascade"] = Cascade(folder, engine).values
    found = race(runners, inputs, reference=names[-1])
    return {
        name: {
            "per_second": entry["throughput"]["value"],
            "seconds_per_input": 1 / entry["throughput"]["value"],
            "joules_per_1000": entry["energy_per_1000"]["joules"],
            "joules_low": entry["energy_per_1000"]["joules_low"],
            "joules_high": entry["energy_per_1000"]["joules_high"],
            "tier": entry["energy_per_1000"]["tier"],
            "ratio": entry["ratio"],
            "latency_ms": entry["latency_ms"],
        }
        for name, entry in found["contenders"].items()
    }
