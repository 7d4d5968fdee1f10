"""Calibration: whether answers given with 80 % confidence are right in 80 % of cases, before and after a fitted temperature.

Papers: Nixon et al. 2019 (bins of equal mass), Guo et al. 2017 (temperature). The temperature is fitted on one half of the rows, and
every figure is of the other half.
"""

import numpy as np

from niwaki.answers._answer_type import softmax
from niwaki.core.json_types import Json
from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.thresholds import fit_temperature

BINS, LEAST_PER_BIN = 15, 10


def bins_of(confidence: np.ndarray) -> list[np.ndarray]:
    """Row numbers in bins with equally many rows, by rising confidence."""
    count = max(1, min(BINS, len(confidence) // LEAST_PER_BIN))
    return np.array_split(np.argsort(confidence, kind="stable"), count)


def reliability(confidence: np.ndarray, right: np.ndarray) -> list[Json]:
    """Mean confidence and share of right answers in each bin."""
    return [
        {"confidence": float(confidence[rows].mean()), "right": float(right[rows].mean()), "rows": len(rows)}
        for rows in bins_of(confidence)
    ]


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """ECE: the mean distance of confidence and share of right answers over the bins, weighted by their rows."""
    bins = reliability(confidence, right)
    return sum(one["rows"] * abs(one["confidence"] - one["right"]) for one in bins) / len(confidence)


def brier(probabilities: np.ndarray, gold: np.ndarray) -> float:
    """Mean squared distance of the probabilities (rows, labels) from the right label, summed over the labels: from 0 to 2."""
    truth = np.eye(probabilities.shape[1])[gold]
    return float(np.square(probabilities - truth).sum(axis=1).mean())


def log_loss(probabilities: np.ndarray, gold: np.ndarray) -> float:
    """Mean negative logarithm of the right label's probability, in nats."""
    return float(-np.log(probabilities[np.arange(len(gold)), gold].clip(min=1e-300)).mean())


def measures(logits: np.ndarray, gold: np.ndarray) -> Json:
    probabilities = softmax(logits)
    confidence, right = probabilities.max(axis=1), logits.argmax(axis=1) == gold
    return {
        "ece": calibration_error(confidence, right),
        "brier": brier(probabilities, gold),
        "log_loss": log_loss(probabilities, gold),
        "reliability": reliability(confidence, right),
    }


def calibration(logits: np.ndarray, gold: np.ndarray, seed: int = 0) -> Json:
    """Of one model: candidate logits (rows, candidates) and the number of the right one; rows whose label the model lacks are left out."""
    known = gold < logits.shape[1]
    logits, gold = logits[known], gold[known]
    order = numpy_generator(seed, "halves").permutation(len(gold))
    fitted, held_out = np.array_split(order, 2)
    temperature = fit_temperature(logits[fitted], gold[fitted])
    return {
        "temperature": temperature,
        "rows": len(held_out),
        "before": measures(logits[held_out], gold[held_out]),
        "after": measures(logits[held_out] / temperature, gold[held_out]),
    }
