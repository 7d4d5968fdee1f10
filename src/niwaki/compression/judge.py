"""Scores candidates on the validation rows, and picks the smallest that is good enough.

Candidates are chosen by their validation scores, so the test score of the chosen one is not the best of many.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from niwaki.compression.budget import Budget
from niwaki.compression.candidates import SOURCE
from niwaki.core.json_types import Json
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.quality import difference
from niwaki.report.verdict import as_loaded
from niwaki.run.result import Run
from niwaki.tasks._task import Task

TIE = 1.05  # sizes or times that are closer count as equal


@dataclass(frozen=True)
class Candidate:
    """One model that was tried. Scores without `test` in their name are from the validation rows."""

    name: str
    score: float
    kept: float | None  # share of the source's score; None where the source's is not above 0
    kept_low: float | None  # ends of the 95 % interval, by a paired bootstrap
    kept_high: float | None
    test_score: float
    test_low: float
    test_high: float
    bytes: int
    smaller: float  # how many times, compared with the source
    latency_ms: float | None  # median of one text in the engine that `niwaki.load` picks
    faster: float | None  # how many times the throughput of the source in plain transformers
    engine: str
    good_enough: bool = False
    within_budget: bool = False

    def to_json(self) -> Json:
        return asdict(self)


@dataclass(frozen=True)
class Goal:
    keep: float
    budget: Budget
    prefer: str  # size or speed


@dataclass(frozen=True)
class Found:
    """The result of a search. `model` is the folder of the chosen candidate, below the run folder."""

    run_folder: Path
    model: Path
    candidates: list[Candidate]
    chosen: Candidate
    seconds: float


def judge(run: Run, task: Task, goal: Goal) -> list[Candidate]:
    """All finished stages that answer the task, the source first."""
    stages = {str(stage["name"]): stage for stage in run.stages if stage["score"] is not None}
    stats = {name: validation_stats(run, name, str(stage["key"]), task) for name, stage in stages.items()}
    scores = {name: task.scorer.scores(found)[task.metric] for name, found in stats.items()}
    source = stages[SOURCE]
    candidates = []
    for name, stage in stages.items():
        kept = retention(task, stats[name], stats[SOURCE])
        found = Candidate(name, scores[name], **kept, **scored(stage), **costs(stage, source))
        candidates.append(judged(found, scores[SOURCE], goal))
    return candidates


def validation_stats(run: Run, name: str, key: str, task: Task) -> np.ndarray:
    """Per-example statistics of the validation rows in the portable engine."""
    return cached_stats(run.folder / "validation" / f"{key}.npy", run.model(name), task)


def cached_stats(path: Path, model: Path, task: Task, engine: str = "") -> np.ndarray:
    """Per-example statistics of the validation rows, kept in a file that is named after the stage's key."""
    if path.is_file():
        return np.load(path, allow_pickle=False)
    found = example_stats(model, task, "validation", engine)
    save_array(path, found)
    return found


def example_stats(model: Path, task: Task, part: str, engine: str = "") -> np.ndarray:
    """Per-example statistics of the answers to a part of the rows."""
    table = task.splits()[part]
    return task.scorer.example_stats(Predictor(model, engine).values(task.inputs(table)), table)


def save_array(path: Path, values: np.ndarray) -> None:
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(".tmp.npy")
    np.save(temporary, values, allow_pickle=False)
    temporary.replace(path)


def retention(task: Task, stats: np.ndarray, source: np.ndarray) -> Json:
    """The share of the source's score that is kept, with its interval."""
    whole = task.scorer.scores(source)[task.metric]
    if whole <= 0:
        return dict.fromkeys(("kept", "kept_low", "kept_high"))
    apart = difference(task, [stats], [source])
    ends = {"kept": "difference", "kept_low": "low", "kept_high": "high"}
    return {name: 1 + apart[end] / whole for name, end in ends.items()}


def scored(stage: Json) -> Json:
    return {"test_score": stage["score"], "test_low": stage["score_low"], "test_high": stage["score_high"]}


def costs(stage: Json, source: Json) -> Json:
    loaded = as_loaded(stage)
    return {
        "bytes": int(stage["bytes"]),
        "smaller": source["bytes"] / stage["bytes"],
        "latency_ms": loaded["latency_ms"]["p50"],
        "faster": loaded["ratios"]["throughput"],
        "engine": str(loaded["engine"] or stage["engine"]),
    }


def judged(candidate: Candidate, source_score: float, goal: Goal) -> Candidate:
    """A score that is not above 0 has no share; then only one as high is good enough."""
    least = goal.keep * source_score if source_score > 0 else source_score
    budget, latency = goal.budget, candidate.latency_ms
    fits = (budget.bytes is None or candidate.bytes <= budget.bytes) and (
        budget.latency_ms is None or (latency is not None and latency <= budget.latency_ms)
    )
    return Candidate(**candidate.to_json() | {"good_enough": candidate.score >= least, "within_budget": fits})


def choose(candidates: Sequence[Candidate], prefer: str) -> Candidate | None:
    """The smallest or fastest of the good ones within the budget, the source aside; of nearly equal ones, the best."""
    good = [one for one in candidates if one.good_enough and one.within_budget and one.name != SOURCE]
    if not good:
        return None
    least = min(cost(one, prefer) for one in good)
    return max((one for one in good if cost(one, prefer) <= TIE * least), key=lambda one: (one.score, -one.bytes))


def cost(candidate: Candidate, prefer: str) -> float:
    if prefer == "size":
        return candidate.bytes
    return 1 / candidate.faster if candidate.faster else float("inf")
