"""Scores of an artifact with bootstrap intervals, and the difference between two artifacts."""

from collections.abc import Iterator, Sequence

import numpy as np

from niwaki.core.json_types import Json
from niwaki.core.seeds import numpy_generator
from niwaki.tasks._task import Task

RESAMPLES = 1000


def quality(task: Task, example_stats: np.ndarray, seed: int = 0) -> Json:
    """All metrics of the task with 95 % intervals from a bootstrap over the rows; the primary one on top.
    A metric of a subset of rows, such as verbs, is left out of draws without such rows."""
    value = task.scorer.scores(example_stats)
    draws = [task.scorer.scores(example_stats[rows]) for rows in bootstrap_rows(len(example_stats), seed)]
    every = {name: {"value": value[name], **interval([draw[name] for draw in draws if name in draw])} for name in value}
    return {"metric": task.metric, **every[task.metric], "rows": len(example_stats), "all": every}


def difference(task: Task, a: Sequence[np.ndarray], b: Sequence[np.ndarray], seed: int = 0) -> Json:
    """score(a) − score(b), means over their seeds, by a paired bootstrap: the same rows are drawn for both, and seeds are drawn
    too. `shown` says whether the interval excludes 0."""

    def score(example_stats: Sequence[np.ndarray], rows: np.ndarray | slice = slice(None)) -> float:
        return float(np.mean([task.scorer.scores(stats[rows])[task.metric] for stats in example_stats]))

    generator = numpy_generator(seed, "seeds")
    draws = [
        score(_some(a, generator), rows) - score(_some(b, generator), rows) for rows in bootstrap_rows(len(a[0]), seed)
    ]
    found = interval(draws)
    return {"difference": score(a) - score(b), **found, "shown": not found["low"] <= 0 <= found["high"]}


def bootstrap_rows(rows: int, seed: int) -> Iterator[np.ndarray]:
    """Rows drawn with replacement. The same seed draws the same rows, so two models are compared on the same draws."""
    generator = numpy_generator(seed, "bootstrap", rows)
    for _ in range(RESAMPLES):
        yield generator.integers(0, rows, rows)


def interval(draws: Sequence[float]) -> dict[str, float]:
    return {"low": float(np.quantile(draws, 0.025)), "high": float(np.quantile(draws, 0.975))}


def _some(example_stats: Sequence[np.ndarray], generator: np.random.Generator) -> list[np.ndarray]:
    return [example_stats[number] for number in generator.integers(0, len(example_stats), len(example_stats))]
