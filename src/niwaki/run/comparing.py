"""What a run shows about differences: each stage over its seeds, against the first stage, and against the best baseline."""

from pathlib import Path
from typing import Any

import numpy as np

from niwaki.core.errors import Refused
from niwaki.core.files import read_json
from niwaki.evaluate.quality import difference
from niwaki.run.plan import Plan
from niwaki.run.stage import OUTCOMES

Outcomes = list[np.ndarray]  # one for each seed


def comparisons(plan: Plan, folder: Path) -> dict[str, Any]:
    """The content of comparisons.json, from the outcomes that stages and baselines left on disk."""
    task = plan.task
    stages = {stage.spec.name: _of_seeds(plan, folder, stage.spec.name) for stage in plan.stages}
    values = {name: [task.scores(one)[task.metric] for one in found] for name, found in stages.items()}
    best = max(values, key=lambda name: np.mean(values[name]))
    first, *later = stages
    rung, of_rung = _best_rung(folder)
    pairs = [(name, first, stages[first]) for name in later]
    pairs += [(name, rung, [of_rung]) for name in dict.fromkeys([best, *list(stages)[-1:]])]
    seeds = [one.recipe.seed for one in (plan, *plan.repeats)]
    return {
        "version": 1,
        "metric": task.metric,
        "spread": {name: {"seeds": seeds, **_spread(found)} for name, found in values.items()},
        "pairs": [{"a": a, "b": b, **difference(task, stages[a], other)} for a, b, other in pairs],
    }


def _of_seeds(plan: Plan, folder: Path, stage: str) -> Outcomes:
    return [_load(folder / one.stage(stage).folder / OUTCOMES) for one in (plan, *plan.repeats)]


def _best_rung(folder: Path) -> tuple[str, np.ndarray]:
    told = read_json(folder / "baseline.json")
    number = [rung["name"] for rung in told["rungs"]].index(told["name"])
    return told["name"], _load(folder / "baseline.npy")[number]


def _load(path: Path) -> np.ndarray:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise Refused(f"{path}: cannot be read ({error}); remove the folder it lies in and run again") from None


def _spread(values: list[float]) -> dict[str, Any]:
    return {
        "values": values,
        "mean": float(np.mean(values)),
        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
    }
