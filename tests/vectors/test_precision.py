"""Precision by hand."""

import numpy as np
import pytest

from niwaki.vectors.normalization import unit
from niwaki.vectors.precision import precision
from niwaki.vectors.table import WordVectors

TARGET = WordVectors(list("uvwxyz"), unit(np.eye(6, dtype=np.float32) + 0.01))
SOURCE = WordVectors(["a", "b", "c"], TARGET.vectors[[0, 1, 2]])
PAIRS = [("a", "u"), ("a", "nothing"), ("b", "z"), ("b", "v"), ("c", "nothing"), ("d", "u")]


def test_any_right_translation_counts_and_only_covered_words_count():
    """a → u and b → v are right; c has no translation with a vector, d no vector."""
    found = precision(PAIRS, SOURCE, TARGET, csls=False)
    assert (found["words"], found["covered"]) == (4, 2)
    assert found["p@1"] == {"value": 1.0, "low": 1.0, "high": 1.0}


def test_intervals_hold_the_share():
    wrong = SOURCE.with_vectors(TARGET.vectors[[0, 2, 1]])
    found = precision(PAIRS, wrong, TARGET, csls=True)
    assert found["p@1"]["value"] == pytest.approx(0.5) and found["p@1"]["low"] == 0 and found["p@1"]["high"] == 1
    assert found["p@5"]["value"] == 1.0


def test_nothing_covered_has_no_precision():
    assert precision([("q", "r")], SOURCE, TARGET, csls=True) == {"words": 1, "covered": 0}
