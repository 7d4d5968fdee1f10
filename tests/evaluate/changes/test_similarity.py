"""CKA against its formula with Gram matrices, and what it does not see."""

import numpy as np
import pytest

from niwaki.evaluate.changes.similarity import cka, cka_matrix, matched_depths


def by_gram_matrices(first, second):
    """HSIC(K, L) / √(HSIC(K, K) HSIC(L, L)) with centred kernels (Kornblith et al. 2019, equation 3)."""
    centre = np.eye(len(first)) - 1 / len(first)
    one, two = (centre @ states @ states.T @ centre for states in (first, second))
    return np.trace(one @ two) / np.sqrt(np.trace(one @ one) * np.trace(two @ two))


def test_cka_equals_its_formula():
    draw = np.random.default_rng(0)
    first, second = draw.normal(size=(23, 5)), draw.normal(size=(23, 9))
    assert cka(first, second) == pytest.approx(by_gram_matrices(first, second))
    assert cka_matrix([first, second], [second]).shape == (2, 1)


def test_rotation_scale_and_shift_do_not_count():
    draw = np.random.default_rng(1)
    states = draw.normal(size=(31, 6))
    rotation = np.linalg.qr(draw.normal(size=(6, 6)))[0]
    assert cka(states, 3 * states @ rotation + 7) == pytest.approx(1)
    assert cka(states, np.ones((31, 2))) == 0


def test_layers_are_matched_by_relative_depth():
    assert matched_depths(6, 3) == [1, 3, 5] and matched_depths(6, 6) == [*range(6)]
    assert matched_depths(2, 4) == [0, 0, 1, 1] and matched_depths(12, 1) == [11]
