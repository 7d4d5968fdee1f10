"""How senses are scored: as the scorer of Raganato et al. (2017) does, precision over what was answered, recall over all.

Several senses said for one word share one point. Of several right ones any is right. What is known of a sentence is, for
each part of speech, three numbers: points, words answered, words asked; sums of these give every score.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from niwaki.data.wordnet import POS

NAMES = dict(zip(POS, ("nouns", "verbs", "adjectives", "adverbs"), strict=True))


def points(said: Any, gold: Sequence[str]) -> tuple[float, int]:
    """The point, or part of one, that an answer earns, and whether it is one."""
    senses = [said] if isinstance(said, str) else list(said or [])
    senses = [one for one in senses if one]
    return (sum(one in gold for one in senses) / len(senses), 1) if senses else (0.0, 0)


def outcome(said: Sequence[Any], golds: Sequence[Sequence[str]], parts: Sequence[str]) -> np.ndarray:
    """(12,): points, answered and asked of each part of speech."""
    found = np.zeros((len(POS), 3))
    for one, gold, pos in zip(said, golds, parts, strict=True):
        found[POS.index(pos)] += (*points(one, gold), 1)
    return found.ravel()


def f1(earned: float, answered: float, asked: float) -> float:
    """Where all are answered it is the share of right ones."""
    return float(2 * earned / (answered + asked)) if answered + asked else 0.0


def scores(example_stats: np.ndarray) -> dict[str, float]:
    """F1 over all and of each part of speech that is asked about."""
    by_part = example_stats.sum(axis=0).reshape(len(POS), 3)
    earned, answered, asked = by_part.sum(axis=0)
    told = {
        "f1": f1(earned, answered, asked),
        "precision": float(earned / answered) if answered else 0.0,
        "recall": float(earned / asked) if asked else 0.0,
    }
    return told | {f"f1_{NAMES[pos]}": f1(*by_part[place]) for place, pos in enumerate(POS) if by_part[place, 2]}
