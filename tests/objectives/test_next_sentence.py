"""Next sentence prediction: half of the second segments are another document's, and none is from the same one."""

import numpy as np
import pytest
from scipy.stats import binomtest

from niwaki.objectives._segment_pairs import Segments
from niwaki.objectives.next_sentence import next_or_other


def segments(documents, empty=()):
    """The first token of a segment says which row it is of, the second one which half."""
    return [
        Segments(np.array([row, 0]), np.array([], dtype=int) if row in empty else np.array([row, 1]), document)
        for row, document in enumerate(documents)
    ]


def test_half_of_the_second_segments_are_of_other_documents():
    documents, exchanged, draw = [0, 0, 0, 1, 2, 2], 0, np.random.default_rng(0)
    for _ in range(400):
        for row, (first, second, label) in enumerate(next_or_other(segments(documents), draw)):
            assert first.tolist() == [row, 0] and second[1] == 1
            assert (documents[second[0]] != documents[row]) if label else (second[0] == row)
            exchanged += label
    assert binomtest(exchanged, 2400, 0.5).pvalue > 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_without_another_document_or_a_second_segment(seed):
    draw = np.random.default_rng(seed)
    assert all(label == 0 for *_, label in next_or_other(segments([3, 3, 3]), draw))
    _, second, label = next_or_other(segments([0, 1], empty=(0,)), draw)[0]
    assert label == 1 and second.tolist() == [1, 1]
