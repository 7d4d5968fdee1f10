"""Compares each stage over its seeds with the first stage, the best stage and the best baseline."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from niwaki.core.documents import read_document
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.evaluate.quality import difference
from niwaki.run.plan import Plan
from niwaki.run.steps.measure import EXAMPLE_STATS

StatsBySeed = list[np.ndarray]  # one for each seed


def comparisons(plan: Plan, folder: Path) -> Json:
    """The content of comparisons.json, from the per-example statistics of stages and baselines."""
    task = plan.task
    stages = {stage.spec.name: _of_seeds(plan, folder, stage.spec.name) for stage in plan.stages}
    values = {name: [task.scorer.scores(stats)[task.metric] for stats in seeds] for name, seeds in stages.items()}
    best = max(values, key=lambda name: np.mean(values[name]))
    first = next(iter(stages))
    pairs = [(name, other, stages[other]) for other in dict.fromkeys([first, best]) for name in stages if name != other]
    for baseline in _baselines(folder) if plan.recipe.baselines else ():
        compared = [best] if baseline.transformer else stages
        pairs += [(name, baseline.name, [baseline.example_stats]) for name in compared]
    seeds = [one.recipe.seed for one in (plan, *plan.repeats)]
    return {
        "version": 1,
        "metric": task.metric,
        "spread": {name: {"seeds": seeds, **_spread(found)} for name, found in values.items()},
        "pairs": [{"a": a, "b": b, **difference(task, stages[a], other)} for a, b, other in pairs],
    }


def _of_seeds(plan: Plan, folder: Path, stage: str) -> StatsBySeed:
    return [_load(folder / one.stage(stage).folder / EXAMPLE_STATS) for one in (plan, *plan.repeats)]


class Baseline(NamedTuple):
    name: str
    transformer: bool
    example_stats: np.ndarray


def _baselines(folder: Path) -> list[Baseline]:
    """The baselines that stages are compared with: the best one without a transformer, and all with one."""
    found = read_document(folder / "baseline.json")
    example_stats = _load(folder / "baseline.npy")
    every = [
        Baseline(one["name"], one["transformer"], scores)
        for one, scores in zip(found["baselines"], example_stats, strict=True)
    ]
    return [one for one in every if one.transformer or one.name == found["name"]]


def _load(path: Path) -> np.ndarray:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); remove the folder it lies in and run again") from None


def _spread(values: list[float]) -> Json:
    return {
        "values": values,
        "mean": float(np.mean(values)),
        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
    }
