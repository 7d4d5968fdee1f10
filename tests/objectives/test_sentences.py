"""Batches of consecutive sentences, and which of them are neighbours."""

import numpy as np
import torch

from niwaki.models.forward import Batch
from niwaki.objectives._sentences import consecutive_batches, distances


def test_batches_are_runs_that_follow_from_seed_and_epoch():
    first, again, other = (consecutive_batches(50, 12, 4, 7, epoch) for epoch in (0, 0, 1))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert len(first) == len(other) and not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    assert [len(batch) for batch in first] == [12, 12, 12, 12]
    rows = np.concatenate(first)
    assert len(set(rows.tolist())) == 48
    assert all(((run[1:] - run[:-1]) % 50 == 1).all() for run in rows.reshape(-1, 4))


def test_fewer_rows_than_a_run_make_one_batch():
    (batch,) = consecutive_batches(3, 12, 4, 0, 0)
    assert sorted(batch.tolist()) == [0, 1, 2]


def test_distances_are_within_documents():
    batch = Batch({}, torch.tensor([0, 0, 1, 1]), torch.tensor([3, 4, 5, 9]))
    assert distances(batch).tolist() == [[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 4], [0, 0, -4, 0]]
