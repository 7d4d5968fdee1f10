"""Flips by small edits: none of a model's own answers, paired, and corrected."""

import pytest

from niwaki.evaluate.changes.edits import EDITS
from niwaki.evaluate.changes.robustness import flipped, robustness


def test_unedited_texts_flip_nothing(answers, inputs):
    assert not flipped(answers[0], [3, 8, 1], [inputs[row] for row in (3, 8, 1)]).any()


def test_both_models_see_the_same_edits(answers, inputs):
    found = robustness(*answers, inputs, seed=2)
    assert {row["edit"] for row in found} <= set(EDITS)
    for row in found:
        more = row["b"]["value"] - row["a"]["value"]
        assert row["more"]["loss"] == pytest.approx(more) and row["more"]["low"] <= more <= row["more"]["high"]
        assert row["more"]["p"] <= row["more"]["p_corrected"]
    assert found == robustness(*answers, inputs, seed=2)
    itself = robustness(answers[0], answers[0], inputs, seed=2)
    assert all(row["more"]["loss"] == 0 and row["a"] == row["b"] for row in itself)
    assert sum(row[side]["count"] for row in found for side in "ab") > 0, "nothing flips: this test would see nothing"
