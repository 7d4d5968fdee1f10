"""Unit length and mean zero."""

import numpy as np

from niwaki.vectors.normalization import normalized, unit


def test_vectors_have_length_one_and_zero_stays():
    assert np.allclose(unit(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0, 0]])


def test_the_mean_is_taken_of_unit_vectors():
    found = normalized(np.array([[10.0, 0.0], [0.0, 1.0]]), center=True)  # unit vectors minus (0.5, 0.5)
    assert np.allclose(found, np.array([[1, -1], [-1, 1]]) / np.sqrt(2))
    assert np.allclose(normalized(np.array([[10.0, 0.0]]), center=False), [[1, 0]])
