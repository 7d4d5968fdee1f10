"""Jensen–Shannon divergence by hand and against scipy."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from niwaki.evaluate.changes.divergence import jensen_shannon, relative_entropy


def test_divergence_by_hand():
    found = jensen_shannon(np.array([[1, 0], [0.5, 0.5], [0.3, 0.7]]), np.array([[0, 1], [1, 0], [0.3, 0.7]]))
    assert found == pytest.approx([1, (0.5 * np.log2(2 / 3) + 0.5 + np.log2(4 / 3)) / 2, 0])
    assert relative_entropy(np.array([1.0, 0.0]), np.array([0.25, 0.75])) == pytest.approx(2)


def test_divergence_equals_scipys():
    first, second = np.random.default_rng(0).dirichlet(np.ones(7), (2, 3, 5))
    assert jensen_shannon(first, second) == pytest.approx(jensenshannon(first, second, base=2, axis=-1) ** 2)
