"""Chooses the confidence threshold of a cascade on validation rows, so that it keeps a share of the last model's score.

All models share one threshold, because their probabilities are calibrated. The search lowers it step by step from where no input stops
early, and tests each step; the first failed test ends it (fixed-sequence testing). The error probability of the whole search is
therefore that of one test, whatever the number of steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from niwaki.evaluate.retention import keeps_score
from niwaki.tasks._task import Task

STEPS = 200
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.05, 20.0


@dataclass(frozen=True)
class TunedThreshold:
    """A threshold and its effect on the rows it was chosen on."""

    threshold: float
    answered_by: np.ndarray  # (rows,) number of the model
    example_stats: np.ndarray


def fit_temperature(logits: np.ndarray, gold: np.ndarray) -> float:
    """The temperature that minimizes the negative log-likelihood of the labels (Guo et al. 2017); logits are (rows, labels)."""
    from scipy.optimize import minimize_scalar

    rows = np.arange(len(gold))
    known = gold < logits.shape[1]
    logits, rows, gold = logits.astype(np.float64)[known], rows[: known.sum()], gold[known]

    def negative_log_likelihood(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        top = scaled.max(axis=1)
        return float((np.log(np.exp(scaled - top[:, None]).sum(axis=1)) + top - scaled[rows, gold]).mean())

    found = minimize_scalar(
        negative_log_likelihood, bounds=(np.log(MIN_TEMPERATURE), np.log(MAX_TEMPERATURE)), method="bounded"
    )
    return float(np.exp(found.x))


def choose_threshold(
    task: Task, confidence: Sequence[np.ndarray], example_stats: Sequence[np.ndarray], keep: float, level: float
) -> TunedThreshold | None:
    """The lowest threshold that is shown to keep the share; None if no step is. `confidence` (rows,) and `example_stats` are given for
    each model, cheapest first."""
    early = np.stack(confidence[:-1])  # (models - 1, rows)
    every = np.stack(example_stats)
    best: TunedThreshold | None = None
    for threshold in candidates(early):
        by = answered_by(early, threshold)
        found = every[by, np.arange(len(by))]
        if not keeps_score(task, every[-1], found, keep, level):
            break
        best = TunedThreshold(float(threshold), by, found)
    return best


def candidates(confidence: np.ndarray) -> np.ndarray:
    """Thresholds from the highest down, in equal shares of rows. They depend on the confidence only, not on the answers."""
    shares = np.linspace(0, 1, STEPS + 1)[1:]
    return np.unique(np.quantile(confidence.max(axis=0), 1 - shares, method="higher"))[::-1]


def answered_by(confidence: np.ndarray, threshold: float) -> np.ndarray:
    """(rows,) the number of the first model that is confident enough, or the last one."""
    enough = np.concatenate([confidence >= threshold, np.ones((1, confidence.shape[1]), dtype=bool)])
    return enough.argmax(axis=0)
