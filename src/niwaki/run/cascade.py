"""Makes a cascade of saved models: calibrates them, tunes the confidence threshold, saves, races and scores the cascade."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import EncodedInputs, Input, Value
from niwaki.answers._capabilities import ChoosesOne, confidence_of
from niwaki.answers._from_config import answer_type_of
from niwaki.core.errors import GateMissed, InputError, UsageError
from niwaki.core.files import commit_folder, require_space, write_json
from niwaki.core.json_types import Json
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

CHOSEN = "chosen.json"  # next to the plan, for people: how the threshold was tuned and what the cascade scored
PICKLED = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".h5", ".msgpack")  # weight formats that niwaki does not read
TEXTS = 256  # in the race


@dataclass(frozen=True)
class Part:
    """One step of the cascade: a model, or one of its early exits."""

    source: Path
    model: Predictor
    exit: int

    @property
    def layers(self) -> int:
        """The number of layers that run; 0 is all."""
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
        rows = self.model.tokenize(inputs)
        return self.model.decode_answers(self.logits(rows), rows, inputs, bare=True)


@dataclass(frozen=True)
class PartResult:
    """Predictions of a part on the validation rows."""

    example_stats: np.ndarray
    confidence: np.ndarray  # (rows,)
    temperature: float


def evaluate_part(part: Part, task: Task, table: pa.Table) -> PartResult:
    model, inputs = part.model, task.inputs(table)
    rows = model.tokenize(inputs)
    logits, temperature = part.logits(rows), 1.0
    example_stats = task.scorer.example_stats(model.decode_answers(logits, rows, inputs, bare=True), table)
    if isinstance(model.answer_type, ChoosesOne):
        temperature = fit_temperature(model.answer_type.candidate_logits(logits, rows), example_stats[:, 1])
    confidence = confidence_of(model.answer_type, logits / temperature, rows, inputs, model.labels)
    return PartResult(example_stats, confidence, temperature)


def parts_of(sources: Sequence[Path], engine: str) -> list[Part]:
    models = [(source, Predictor(source, engine_of(source, engine))) for source in sources]
    check_compatible(models)
    return [Part(source, model, number) for source, model in models for number in range(len(usable_exits(model)) + 1)]


def engine_of(source: Path, engine: str) -> str:
    """The requested engine, or one that supports early exits if the model has them."""
    config = check_model_folder(source)
    supports_early_exit = exits_of(config) and answer_type_of(config, str(source / CONFIG)).supports_early_exit
    return engine_with_exits(source, engine) if supports_early_exit else engine


def make(
    sources: Sequence[Path], task: Task, out: Path, keep: float, level: float, engine: str = "", force: bool = False
) -> Json:
    """Writes the folder `out` and returns its scores. Raises GateMissed, and writes nothing, if the rows cannot show that the cascade
    keeps the requested share of the score."""
    check_arguments(sources, out, keep, level, force)
    parts = parts_of(sources, engine)
    if len(parts) < 2:
        raise UsageError("cascade: give two models or more, the cheapest first, or one that was trained with exits")
    check_model_matches(task, parts[0].model.answer_type, parts[0].model.labels, sources[0])
    rows = task.splits()["validation"]
    results = [evaluate_part(part, task, rows) for part in parts]
    example_stats = [result.example_stats for result in results]
    chosen = choose_threshold(task, [result.confidence for result in results], example_stats, keep, level)
    if chosen is None:
        raise GateMissed(gate_message(task, example_stats, keep, level))
    warn_if_not_best(task, parts, example_stats)
    folders = {source: f"model-{number}" for number, source in enumerate(sources)}
    steps = [
        CascadeStep(
            folder=folders[part.source],
            layers=part.layers,
            temperature=result.temperature,
            threshold=0.0 if part is parts[-1] else chosen.threshold,
        )
        for part, result in zip(parts, results, strict=True)
    ]
    plan = CascadePlan(steps=steps, keep=keep, level=level, task=task.name, rows=rows.num_rows)
    with commit_folder(out) as folder:
        for source, name in folders.items():
            copy(source, folder / name)
        write_json(folder / CASCADE, plan.model_dump())
        summary = {"out": str(out), **about(plan, task, parts, example_stats, chosen)}
        summary |= {
            "test": evaluate_on_test(Cascade(folder, engine), parts[-1], task),
            "speed": measure_speed(folder, engine, parts, task),
        }
        write_json(folder / CHOSEN, summary)
    warn_if_slower(summary["speed"]["cascade"]["ratio"])
    return summary


def check_arguments(sources: Sequence[Path], out: Path, keep: float, level: float, force: bool) -> None:
    """Rejects invalid arguments before any model is loaded."""
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
        fix = "--force replaces it, or" if is_cascade(out) else "it is no cascade;"
        raise InputError(f"{out}: exists already; {fix} choose another folder with --out")
    require_space(
        out,
        sum(path.stat().st_size for source in sources if source.is_dir() for path in answer_files_of(source)),
        "a copy of the models",
    )


def answer_files_of(source: Path) -> list[Path]:
    """The files that a model is loaded from: plain files of its folder, without weights in formats that are not read."""
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
    """Says whether there are too few rows, or the models differ too much."""
    rows = len(example_stats[-1])
    score = task.scorer.scores(example_stats[-1])[task.metric]
    need = int(np.ceil(np.log(1 - level) / np.log(1 - max(1e-9, (1 - keep) * score))))
    few = f", and without a single loss it takes about {need} rows" if need > rows else ""
    return f"{rows} validation rows do not show with {level:.0%} confidence that {keep:.1%} of the {task.metric} is kept even if few inputs stop early{few}; lower keep, or give more rows"


def warn_if_not_best(task: Task, parts: Sequence[Part], example_stats: Sequence[np.ndarray]) -> None:
    scores = [task.scorer.scores(stats)[task.metric] for stats in example_stats]
    best = int(np.argmax(scores))
    if scores[best] > scores[-1]:
        info(
            f"{parts[best].name}: scores {scores[best]:.4f} on the validation rows, the last model {scores[-1]:.4f}; the share kept is of the last model's"
        )


def warn_if_slower(ratio: dict[str, float]) -> None:
    """An input that moves on runs two models; with many of them the cascade is slower than its last model."""
    if ratio["high"] < 1:
        info(
            f"cascade: {ratio['value']:.2f} × as fast as the last model alone; too few inputs stop early to save time. Lower keep, give a cheaper first model, or use the last model alone"
        )


def about(
    plan: CascadePlan, task: Task, parts: Sequence[Part], example_stats: Sequence[np.ndarray], chosen: TunedThreshold
) -> Json:
    """How the threshold was tuned, and the scores on the rows it was tuned on."""
    scores = [task.scorer.scores(stats)[task.metric] for stats in example_stats]
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


def evaluate_on_test(cascade: Cascade, best: Part, task: Task) -> Json:
    """Scores on the test rows, on which no threshold was tuned."""
    rows = task.splits()["test"]
    inputs = task.inputs(rows)
    values, answered_by = cascade.predict_with_steps(inputs, cascade.tokenize(inputs), bare=True)
    ours, theirs = (task.scorer.example_stats(predicted, rows) for predicted in (values, best.values(inputs)))
    scores = [task.scorer.scores(stats)[task.metric] for stats in (ours, theirs)]
    summary = {"rows": len(ours), "score": scores[0], "best": scores[1], "kept": share_of(*scores)}
    shares = answer_shares(answered_by, len(cascade.plan.steps))
    return {**summary, "answers": shares, "paired": difference(task, [ours], [theirs])}


def measure_speed(folder: Path, engine: str, parts: Sequence[Part], task: Task) -> Json:
    """Time and energy of the cascade and of each model or exit alone, measured in turns on test inputs."""
    inputs = list(task.inputs(task.splits()["test"]))[:TEXTS]
    names = [f"{number + 1} {part.name}" for number, part in enumerate(parts)]
    runners: dict[str, Callable[[Sequence[Input]], Sequence[Value]]] = {
        name: part.values for name, part in zip(names, parts, strict=True)
    }
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
