"""How good an artifact is, with the interval that the number of test rows allows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from niwaki.core.seeds import numpy_generator
from niwaki.tasks._task import Task

RESAMPLES = 1000
Scores = Callable[[np.ndarray, np.ndarray], dict[str, float]]


def quality(task: Task, logits: np.ndarray, targets: np.ndarray, seed: int = 0) -> dict[str, Any]:
    """All metrics of the task with 95 % intervals; the primary one on top."""
    every = with_intervals(task.scores, logits, targets, seed)
    return {"metric": task.metric, **every[task.metric], "rows": len(targets), "all": every}


def with_intervals(scores: Scores, logits: np.ndarray, targets: np.ndarray, seed: int) -> dict[str, dict[str, float]]:
    """Percentile bootstrap over the rows: the same seed draws the same rows, so two models are compared on the same draws."""
    value = scores(logits, targets)
    generator = numpy_generator(seed, "bootstrap", len(targets))
    draws: dict[str, list[float]] = {name: [] for name in value}
    for _ in range(RESAMPLES):
        rows = generator.integers(0, len(targets), len(targets))
        for name, score in scores(logits[rows], targets[rows]).items():
            draws[name].append(score)
    return {
        name: {
            "value": value[name],
            "low": float(np.quantile(draws[name], 0.025)),
            "high": float(np.quantile(draws[name], 0.975)),
        }
        for name in value
    }
