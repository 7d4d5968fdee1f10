"""What is done to word vectors before they are mapped: unit length, mean zero, and both in turns (Xing et al. 2015; Artetxe et al. 2018)."""

import numpy as np


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors of length 1; zero vectors stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def normalized(vectors: np.ndarray, center: bool) -> np.ndarray:
    """Of unit length; with `center`, the mean is taken away in between."""
    vectors = unit(vectors)
    return unit(vectors - vectors.mean(axis=0)) if center else vectors
