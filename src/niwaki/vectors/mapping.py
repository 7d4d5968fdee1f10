"""Linear maps from one vector space to another, fitted to pairs of translations."""

from collections.abc import Callable

import numpy as np


def least_squares(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """W that minimizes |source W - target|² (Mikolov et al. 2013)."""
    return np.linalg.lstsq(source.astype(np.float64), target.astype(np.float64), rcond=None)[0].astype(np.float32)


def orthogonal(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The same among rotations and reflections, which keep all distances (Schönemann 1966): U Vᵀ of the SVD of sourceᵀ target."""
    left, _, right = np.linalg.svd(source.T.astype(np.float64) @ target.astype(np.float64), full_matrices=False)
    return (left @ right).astype(np.float32)


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "orthogonal": orthogonal,
    "least_squares": least_squares,
}
