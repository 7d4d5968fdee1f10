import numpy as np
import pytest

from niwaki.evaluate.probing.description_length import online_code


def certain(labels, wrong=False):
    """A classifier that knows every label, or that names the other one of two."""

    def fit(rows):
        def logs(others):
            right = np.eye(2)[labels[others] ^ wrong]
            return np.log(np.clip(right, 1e-300, None))

        return logs

    return fit


def test_a_known_sequence():
    """Eight labels of two kinds in blocks that end at 1, 2, 4 and 8; by hand. The uniform code counts as one label."""
    labels = np.array([0, 1, 1, 0, 1, 0, 0, 1])
    shares = (0.125, 0.25, 0.5, 1.0)
    right = 1 - np.log2(1.5 / 2) - 2 * np.log2(2.5 / 3) - 4 * np.log2(4.5 / 5)
    wrong = 1 - np.log2(0.5 / 2) - 2 * np.log2(0.5 / 3) - 4 * np.log2(0.5 / 5)
    found = online_code(labels, 2, certain(labels), shares)
    assert found.bits == pytest.approx(right) and found.uniform == 8
    assert found.compression == pytest.approx(8 / right)
    assert online_code(labels, 2, certain(labels, wrong=True), shares).bits == pytest.approx(wrong)


def test_a_classifier_that_knows_nothing_is_as_long_as_the_uniform_code():
    labels = np.random.default_rng(0).integers(0, 5, 300)
    found = online_code(labels, 5, lambda rows: lambda others: np.full((len(others), 5), -np.log(5)))
    assert found.bits == pytest.approx(found.uniform) == pytest.approx(300 * np.log2(5))


def test_blocks_are_fitted_on_all_before_them():
    seen = []

    def fit(rows):
        seen.append(len(rows))
        return lambda others: np.zeros((len(others), 1))

    assert online_code(np.zeros(1000, int), 1, fit).uniform == 1000
    assert seen == [1, 2, 4, 8, 16, 32, 62, 125, 250, 500]
