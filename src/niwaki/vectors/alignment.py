"""Maps one table of word vectors into the space of another, from a dictionary or, with self-learning, from very few pairs.

Self-learning (Artetxe et al. 2017): the map gives a larger dictionary, the mutually nearest of the most frequent words, which gives a
better map, until the mean similarity of the dictionary no longer grows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from niwaki.core.errors import InputError
from niwaki.vectors.dictionary import Pairs, known
from niwaki.vectors.mapping import METHODS
from niwaki.vectors.normalization import normalized, unit
from niwaki.vectors.retrieval import densities, nearest
from niwaki.vectors.table import WordVectors

ROUNDS, LEAST_GAIN = 100, 1e-4


@dataclass(frozen=True)
class Settings:
    method: str = "orthogonal"  # or least_squares
    center: bool = True
    csls: bool = True
    self_learning: bool = False
    frequent: int = 10_000  # words of each side from which self-learning makes its dictionary


@dataclass(frozen=True)
class Alignment:
    """Both tables normalized and in one space."""

    source: WordVectors
    target: WordVectors
    seeds: int  # pairs of the dictionary that have vectors
    rounds: int  # of self-learning
    dictionary: int  # pairs that the final map was fitted to


def align(
    source: WordVectors,
    target: WordVectors,
    pairs: Pairs,
    settings: Settings,
    progress: Callable[[str], None] = lambda _: None,
) -> Alignment:
    found = known(pairs, source, target)
    if not found:
        raise InputError(
            f"none of the {len(pairs):,} word pairs has vectors in both tables; check languages and spelling"
        )
    if source.vectors.shape[1] != target.vectors.shape[1] and settings.method == "orthogonal":
        raise InputError(
            f"vectors of {source.vectors.shape[1]} and {target.vectors.shape[1]} numbers cannot be rotated into each other; take method least_squares"
        )
    x, y = (normalized(table.vectors, settings.center) for table in (source, target))
    numbers = np.array([(source.number_of[a], target.number_of[b]) for a, b in found])
    mapped, numbers, rounds = _learn(x, y, numbers, settings, progress)
    return Alignment(source.with_vectors(mapped), target.with_vectors(y), len(found), rounds, len(numbers))


def _learn(
    x: np.ndarray, y: np.ndarray, numbers: np.ndarray, settings: Settings, progress: Callable[[str], None]
) -> tuple[np.ndarray, np.ndarray, int]:
    """The mapped source, the dictionary of the map, and the rounds."""
    mapped = _mapped(x, y, numbers, settings)
    best, rounds = -np.inf, 0
    for rounds in range(1, ROUNDS + 1 if settings.self_learning else 1):
        induced = mutual(mapped[: settings.frequent], y[: settings.frequent], settings.csls)
        if not len(induced):
            break
        candidate = _mapped(x, y, induced, settings)
        mean = float((candidate[induced[:, 0]] * y[induced[:, 1]]).sum(axis=1).mean())
        progress(f"round {rounds}: {len(induced):,} pairs, mean cosine {mean:.4f}")
        if mean < best + LEAST_GAIN:
            break
        best, mapped, numbers = mean, candidate, induced
    return mapped, numbers, rounds


def _mapped(x: np.ndarray, y: np.ndarray, numbers: np.ndarray, settings: Settings) -> np.ndarray:
    return unit(x @ METHODS[settings.method](x[numbers[:, 0]], y[numbers[:, 1]]))


def mutual(source: np.ndarray, target: np.ndarray, csls: bool) -> np.ndarray:
    """(pairs, 2): words that are each other's nearest."""
    forth = densities(source, target) if csls else None
    back = (forth[1], forth[0]) if forth else None
    to, fro = nearest(source, target, 1, forth)[:, 0], nearest(target, source, 1, back)[:, 0]
    found = np.flatnonzero(fro[to] == np.arange(len(source)))
    return np.stack([found, to[found]], axis=1)
