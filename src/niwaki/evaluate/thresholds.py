"""How sure each model of a cascade must be: chosen on validation rows, so that a share of the last model's score is kept.

All models share one threshold, which is what calibrated probabilities are for. It is lowered step by step from where nothing stops
early, and each step is tested; the first that does not pass ends it (fixed-sequence testing). So the whole search is wrong no more
often than one test is, however many steps there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from niwaki.evaluate.retention import is_score_kept
from niwaki.tasks._task import Task

STEPS = 200
COLDEST, HOTTEST = 0.05, 20.0  # temperatures


@dataclass(frozen=True)
class TunedThreshold:
    """Of a cascade on the rows it was chosen on."""

    threshold: float
    answered_by: np.ndarray  # (rows,) number of the model
    example_stats: np.ndarray


def fit_temperature(logits: np.ndarray, gold: np.ndarray) -> float:
    """What logits (rows, labels) must be divided by for the probabilities of the right labels to be highest (Guo et al. 2017)."""
    from scipy.optimize import minimize_scalar

    rows = np.arange(len(gold))
    known = gold < logits.shape[1]
    logits, rows, gold = logits.astype(np.float64)[known], rows[: known.sum()], gold[known]

    def surprise(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        top = scaled.max(axis=1)
        return float((np.log(np.exp(scaled - top[:, None]).sum(axis=1)) + top - scaled[rows, gold]).mean())

    found = minimize_scalar(surprise, bounds=(np.log(COLDEST), np.log(HOTTEST)), method="bounded")
    return float(np.exp(found.x))


def choose_threshold(
    task: Task, confidence: Sequence[np.ndarray], example_stats: Sequence[np.ndarray], keep: float, level: float
) -> TunedThreshold | None:
    """The lowest threshold that is shown to keep the share; None where not even the first step is shown to. `confidence` (rows,)
    and `example_stats`, which are the task's, of each model, cheapest first."""
    early = np.stack(confidence[:-1])  # (models - 1, rows)
    every = np.stack(example_stats)
    best: TunedThreshold | None = None
    for threshold in candidates(early):
        by = answered_by(early, threshold)
        found = every[by, np.arange(len(by))]
        if not is_score_kept(task, every[-1], found, keep, level):
            break
        best = TunedThreshold(float(threshold), by, found)
    return best


def candidates(confidence: np.ndarray) -> np.ndarray:
    """From the highest down; each lets about as many more stop. The answers play no part, only how sure the models are."""
    shares = np.linspace(0, 1, STEPS + 1)[1:]
    return np.unique(np.quantile(confidence.max(axis=0), 1 - shares, method="higher"))[::-1]


def answered_by(confidence: np.ndarray, threshold: float) -> np.ndarray:
    """(rows,) the first model that is sure enough; the last one where none is."""
    enough = np.concatenate([confidence >= threshold, np.ones((1, confidence.shape[1]), dtype=bool)])
    return enough.argmax(axis=0)
