"""How differently two models attend: the Jensen–Shannon divergence of their attention distributions, in bits, from 0 to 1."""

import numpy as np


def jensen_shannon(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Over the last axis of two arrays of distributions: the mean of both relative entropies to their mean."""
    middle = (first + second) / 2
    return (relative_entropy(first, middle) + relative_entropy(second, middle)) / 2


def relative_entropy(of: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Kullback–Leibler divergence in bits; a probability of 0 adds nothing."""
    safe = np.where(of > 0, of, 1.0)
    return np.asarray((of * (np.log2(safe) - np.log2(np.where(to > 0, to, 1.0)))).sum(axis=-1))
