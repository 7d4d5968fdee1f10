"""The nearest target words of source words: by cosine, or by CSLS (Conneau et al. 2018), which ranks words lower that are near to everything.

CSLS(x, y) = 2 cos(x, y) - r(x) - r(y), where r is the mean cosine of a vector to its NEIGHBOURS nearest ones on the other side.
"""

from collections.abc import Iterator

import numpy as np

NEIGHBOURS = 10
BLOCK = 1024  # rows of a block of similarities: memory is BLOCK × targets floats


def nearest(
    source: np.ndarray, target: np.ndarray, count: int, density: tuple[np.ndarray, np.ndarray] | None = None
) -> np.ndarray:
    """(source, count) numbers of the nearest targets, nearest first. Vectors have unit length. `density` of both sides turns cosines
    into CSLS; without it, cosines decide."""
    count = min(count, len(target))
    found = np.empty((len(source), count), dtype=np.int64)
    for start, cosines in _blocks(source, target):
        scores = cosines if density is None else 2 * cosines - density[1][None]  # r(x) is the same for all targets
        best = np.argpartition(-scores, count - 1, axis=1)[:, :count]
        order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable")
        found[start : start + len(scores)] = np.take_along_axis(best, order, 1)
    return found


def densities(source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """r of each source and of each target."""
    return density(source, target), density(target, source)


def density(vectors: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The mean cosine of each vector to its nearest ones among the others."""
    count = min(NEIGHBOURS, len(others))
    found = np.empty(len(vectors), dtype=np.float32)
    for start, cosines in _blocks(vectors, others):
        largest = np.partition(cosines, -count, axis=1)[:, -count:]
        found[start : start + len(cosines)] = largest.mean(axis=1)
    return found


def _blocks(vectors: np.ndarray, others: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    for start in range(0, len(vectors), BLOCK):
        yield start, vectors[start : start + BLOCK] @ others.T
