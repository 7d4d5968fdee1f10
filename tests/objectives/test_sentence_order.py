"""Sentence order prediction: half of the pairs are exchanged, and both segments stay those of their sequence."""

import numpy as np
from scipy.stats import binomtest

from niwaki.models.forward import NO_LABEL
from niwaki.objectives._segment_pairs import Segments
from niwaki.objectives.sentence_order import in_order_or_exchanged


def test_half_of_the_pairs_are_exchanged():
    cut = [Segments(np.array([row, 0]), np.array([row, 1]), 0) for row in range(6)]
    exchanged, draw = 0, np.random.default_rng(0)
    for _ in range(400):
        for row, (first, second, label) in enumerate(in_order_or_exchanged(cut, draw)):
            assert first.tolist() == [row, label] and second.tolist() == [row, 1 - label]
            exchanged += label
    assert binomtest(exchanged, 2400, 0.5).pvalue > 1e-3


def test_a_segment_alone_has_no_order():
    (pair,) = in_order_or_exchanged([Segments(np.array([1]), np.array([], dtype=int), 0)], np.random.default_rng(0))
    assert pair[0].tolist() == [1] and pair[2] == NO_LABEL
