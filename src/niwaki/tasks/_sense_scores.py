"""How senses are scored: as the scorer of Raganato et al. (2017) does, precision over what was answered, recall over all.

Several senses predicted for one word share one point. If several are correct, any of them is. Words whose correct sense is
the inventory's first are scored apart from the others: answering the most frequent sense scores 1 on the former and 0 on the
latter. The statistics of a sentence are, for both groups and each part of speech, three numbers: points, answered words,
target words; all scores follow from their sums.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from niwaki.data.wordnet import POS

NAMES = dict(zip(POS, ("nouns", "verbs", "adjectives", "adverbs"), strict=True))
GROUPS = ("other_senses", "first_sense")  # by whether the first sense of the inventory is correct


def points(predicted: Any, gold: Sequence[str]) -> tuple[float, int]:
    """The point, or part of one, that an answer earns, and whether it is one."""
    senses = [predicted] if isinstance(predicted, str) else list(predicted or [])
    senses = [one for one in senses if one]
    return (sum(one in gold for one in senses) / len(senses), 1) if senses else (0.0, 0)


def counts(
    predicted: Sequence[object], golds: Sequence[Sequence[str]], parts: Sequence[str], first: Sequence[bool]
) -> np.ndarray:
    """(24,): points, answered words and target words of each group and part of speech. `first` says of each word whether
    the inventory's first sense is correct."""
    found = np.zeros((len(GROUPS), len(POS), 3))
    for one, gold, pos, is_first in zip(predicted, golds, parts, first, strict=True):
        found[int(is_first), POS.index(pos)] += (*points(one, gold), 1)
    return found.ravel()


def f1(earned: float, answered: float, targets: float) -> float:
    """Where all are answered it is the share of right ones."""
    return float(2 * earned / (answered + targets)) if answered + targets else 0.0


def scores(example_stats: np.ndarray) -> dict[str, float]:
    """F1 over all words, of each part of speech and of each group that occurs."""
    sums = example_stats.sum(axis=0).reshape(len(GROUPS), len(POS), 3)
    by_part, by_group = sums.sum(axis=0), sums.sum(axis=1)
    earned, answered, targets = by_part.sum(axis=0)
    overall = {
        "f1": f1(earned, answered, targets),
        "precision": float(earned / answered) if answered else 0.0,
        "recall": float(earned / targets) if targets else 0.0,
    }
    subsets = [*zip(NAMES.values(), by_part, strict=True), *zip(GROUPS[::-1], by_group[::-1], strict=True)]
    return overall | {f"f1_{name}": f1(*found) for name, found in subsets if found[2]}
