"""Linear CKA: how similar two layers represent the same tokens, from 0 to 1; rotations and scales do not count.

Paper: Kornblith et al. 2019, Similarity of Neural Network Representations Revisited (arXiv 1905.00414).
"""

from collections.abc import Sequence

import numpy as np


def cka(first: np.ndarray, second: np.ndarray) -> float:
    """Of states (tokens, width) of the same tokens; the widths may differ. 0 if one does not vary."""
    first, second = first - first.mean(axis=0), second - second.mean(axis=0)
    norms = np.linalg.norm(first.T @ first) * np.linalg.norm(second.T @ second)
    return float(np.linalg.norm(second.T @ first) ** 2 / norms) if norms > 0 else 0.0


def cka_matrix(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> np.ndarray:
    """(depths of the first, depths of the second)."""
    return np.array([[cka(a, b) for b in second] for a in first])


def matched_depths(first: int, second: int) -> list[int]:
    """For each layer of the second model, the layer of the first at the same relative depth: the last with the last."""
    return [max(0, int((number + 1) * first / second + 0.5) - 1) for number in range(second)]
