"""The maps, next to scipy and the normal equations."""

import numpy as np
from scipy.linalg import orthogonal_procrustes

from niwaki.vectors.mapping import least_squares, orthogonal

from .spaces import rotation, two_tables


def test_the_rotation_is_that_of_scipy():
    first, second = two_tables(noise=0.3)
    wanted, _ = orthogonal_procrustes(first.vectors, second.vectors)
    found = orthogonal(first.vectors, second.vectors)
    assert np.allclose(found, wanted, atol=1e-5) and np.allclose(found @ found.T, np.eye(12), atol=1e-5)


def test_an_exact_rotation_is_recovered():
    first, second = two_tables()
    assert np.allclose(orthogonal(first.vectors, second.vectors), rotation(12), atol=1e-4)


def test_least_squares_solves_the_normal_equations():
    first, second = two_tables(noise=0.3)
    found = least_squares(first.vectors, second.vectors[:, :7])  # sizes may differ
    x = first.vectors.astype(np.float64)
    assert np.allclose(x.T @ x @ found, x.T @ second.vectors[:, :7], atol=1e-3)
