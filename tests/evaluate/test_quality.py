"""Scores with intervals: they contain the value, shrink with rows, and are the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as some

from niwaki.evaluate import quality as module
from niwaki.evaluate.quality import quality
from niwaki.tasks.classification import Classification

TASK = Classification(path="x")


def drawn(rows: int, right: float, seed: int = 0):
    draw = np.random.default_rng(seed)
    targets = draw.integers(0, 2, rows)
    predicted = np.where(draw.random(rows) < right, targets, 1 - targets)
    return np.eye(2)[predicted], targets


@examples(max_examples=10)
@given(some.lists(some.tuples(some.integers(0, 2), some.integers(0, 2)), min_size=1, max_size=25))
def test_the_interval_contains_the_value(rows):
    targets, predicted = (np.array(column) for column in zip(*rows, strict=True))
    module.RESAMPLES, before = 100, module.RESAMPLES
    try:
        found = quality(TASK, np.eye(3)[predicted], targets)
    finally:
        module.RESAMPLES = before
    for score in found["all"].values():
        assert 0 <= score["low"] <= score["value"] <= score["high"] <= 1


def test_accuracy_by_hand_and_its_interval():
    logits, targets = drawn(400, 0.8)
    found = quality(TASK, logits, targets)
    value = (logits.argmax(1) == targets).mean()
    assert found["metric"] == "accuracy" and found["value"] == found["all"]["accuracy"]["value"] == pytest.approx(value)
    assert found["rows"] == 400
    half = 1.96 * np.sqrt(value * (1 - value) / 400)  # the normal approximation
    assert found["low"] == pytest.approx(value - half, abs=0.008)
    assert found["high"] == pytest.approx(value + half, abs=0.008)


def test_the_same_seed_draws_the_same_rows():
    logits, targets = drawn(60, 0.7)
    assert quality(TASK, logits, targets, seed=3) == quality(TASK, logits, targets, seed=3)
    assert quality(TASK, logits, targets, seed=3) != quality(TASK, logits, targets, seed=4)
