"""Rows of every step, with batches that grow and without."""

import numpy as np
import pytest

from niwaki.train.steps import Steps


def epochs(sizes, wanted_epochs=None):
    def batches(epoch):
        if wanted_epochs is not None:
            wanted_epochs.append(epoch)
        return [np.arange(size) + 100 * number + 1000 * epoch for number, size in enumerate(sizes)]

    return batches


def test_without_growth_each_step_is_a_batch():
    wanted_epochs = []
    steps = Steps(epochs([4, 4, 2], wanted_epochs), 1.7)
    assert (steps.per_epoch, steps.total) == (3, 5)
    assert [steps.rows(step)[0] for step in range(5)] == [0, 100, 200, 1000, 1100]
    assert wanted_epochs == [0, 1] and steps.epoch(4) == pytest.approx(4 / 3)


def test_batches_grow_by_hand():
    """Eight batches of four rows: two as quarters, two as halves, four whole. All rows are read once, in order."""
    steps = Steps(epochs([4] * 8), 1, growth=4)
    assert steps.total == 2 * 4 + 2 * 2 + 4
    found = [steps.rows(step) for step in range(steps.total)]
    assert [len(rows) for rows in found] == [1] * 8 + [2] * 4 + [4] * 4
    assert np.concatenate(found).tolist() == [100 * batch + row for batch in range(8) for row in range(4)]
    assert [steps.epoch(step) for step in (0, 1, 8, 12)] == [0, 1 / 32, 2 / 8, 4 / 8]


def test_a_step_does_not_depend_on_those_before():
    whole = Steps(epochs([5, 3, 7]), 2, growth=2)
    for step in reversed(range(whole.total)):
        again = Steps(epochs([5, 3, 7]), 2, growth=2)
        assert np.array_equal(again.rows(step), whole.rows(step))


def test_a_small_batch_has_no_empty_piece():
    steps = Steps(epochs([1, 1, 1, 1]), 1, growth=2)
    assert all(len(steps.rows(step)) == 1 for step in range(steps.total)) and steps.total == 6
