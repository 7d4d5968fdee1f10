"""How senses are scored: as the scorer of Raganato et al. (2017) does, precision over what was answered, recall over all.

Several senses predicted for one word share one point. If several are correct, any of them is. The statistics of a sentence
are, for each part of speech, three numbers: points, answered words, target words; all scores follow from their sums.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from niwaki.data.wordnet import POS

NAMES = dict(zip(POS, ("nouns", "verbs", "adjectives", "adverbs"), strict=True))


def points(predicted: Any, gold: Sequence[str]) -> tuple[float, int]:
    """The point, or part of one, that an answer earns, and whether it is one."""
    senses = [predicted] if isinstance(predicted, str) else list(predicted or [])
    senses = [one for one in senses if one]
    return (sum(one in gold for one in senses) / len(senses), 1) if senses else (0.0, 0)


def counts(predicted: Sequence[object], golds: Sequence[Sequence[str]], parts: Sequence[str]) -> np.ndarray:
    """(12,): points, answered words and target words of each part of speech."""
    found = np.zeros((len(POS), 3))
    for one, gold, pos in zip(predicted, golds, parts, strict=True):
        found[POS.index(pos)] += (*points(one, gold), 1)
    return found.ravel()


def f1(earned: float, answered: float, targets: float) -> float:
    """Where all are answered it is the share of right ones."""
    return float(2 * earned / (answered + targets)) if answered + targets else 0.0


def scores(example_stats: np.ndarray) -> dict[str, float]:
    """F1 over all words and of each part of speech that occurs."""
    by_part = example_stats.sum(axis=0).reshape(len(POS), 3)
    earned, answered, targets = by_part.sum(axis=0)
    overall = {
        "f1": f1(earned, answered, targets),
        "precision": float(earned / answered) if answered else 0.0,
        "recall": float(earned / targets) if targets else 0.0,
    }
    return overall | {f"f1_{NAMES[pos]}": f1(*by_part[place]) for place, pos in enumerate(POS) if by_part[place, 2]}
