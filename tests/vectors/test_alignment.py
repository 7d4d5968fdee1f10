"""A rotated space is found again: from many pairs, from few with self-learning; what cannot be mapped is rejected."""

import numpy as np
import pytest

from niwaki.core.errors import InputError
from niwaki.vectors.alignment import Settings, align, mutual
from niwaki.vectors.precision import precision
from niwaki.vectors.table import WordVectors

from .spaces import pairs, two_tables


def score(found):
    return precision(pairs(range(100, 300)), found.source, found.target, csls=True)["p@1"]["value"]


@pytest.mark.parametrize("method", ["orthogonal", "least_squares"])
@pytest.mark.parametrize("center", [True, False])
def test_words_without_a_pair_find_their_translation(method, center):
    found = align(*two_tables(noise=0.1), pairs(range(100)), Settings(method, center))
    assert score(found) > 0.95 and (found.seeds, found.dictionary, found.rounds) == (100, 100, 0)
    assert np.allclose(np.linalg.norm(found.source.vectors, axis=1), 1, atol=1e-5)


def test_self_learning_needs_few_pairs():
    tables, few = two_tables(noise=0.15, size=20), pairs(range(14))
    alone, learned = (align(*tables, few, Settings(self_learning=one)) for one in (False, True))
    assert score(alone) < 0.8 < 0.95 < score(learned)
    assert learned.rounds > 1 and learned.dictionary > 200 > learned.seeds == 14


def test_progress_has_a_line_for_each_round():
    lines = []
    align(*two_tables(noise=0.1), pairs(range(30)), Settings(self_learning=True), lines.append)
    assert lines[0].startswith("round 1: ") and "mean cosine" in lines[0]


def test_mutual_neighbours_by_hand():
    source = np.array([[1.0, 0], [0.9, 0.1], [0, 1]], dtype=np.float32)
    target = np.array([[0, 1.0], [1, 0]], dtype=np.float32)
    assert mutual(source, target, csls=False).tolist() == [[0, 1], [2, 0]]  # the second's nearest prefers the first


def test_pairs_without_vectors_are_rejected():
    with pytest.raises(InputError, match="none of the 2 word pairs has vectors in both tables"):
        align(*two_tables(), [("x", "b1"), ("a1", "y")], Settings())


def test_vectors_of_different_sizes_need_least_squares():
    first, second = two_tables()
    second = WordVectors(second.words, second.vectors[:, :7])
    with pytest.raises(
        InputError, match="vectors of 12 and 7 numbers cannot be rotated into each other; take method least_squares"
    ):
        align(first, second, pairs(range(50)), Settings())
    assert align(first, second, pairs(range(200)), Settings("least_squares")).source.vectors.shape == (300, 7)
