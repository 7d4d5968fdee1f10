"""Batches: every row once, the same for the same seed, little padding."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from niwaki.data.batching import epoch_batches, in_order, sorted_batches

LENGTHS = some.lists(some.integers(1, 60), min_size=1, max_size=80)


@given(lengths=LENGTHS, batch=some.integers(1, 16), seed=some.integers(0, 9), epoch=some.integers(0, 3))
def test_every_row_exactly_once_and_always_the_same(lengths, batch, seed, epoch):
    first = epoch_batches(lengths, batch, seed, epoch)
    assert sorted(np.concatenate(first).tolist()) == list(range(len(lengths)))
    assert [rows.tolist() for rows in first] == [rows.tolist() for rows in epoch_batches(lengths, batch, seed, epoch)]
    assert sum(len(rows) < batch for rows in first) <= 1


def test_epochs_differ_in_order_and_in_company():
    lengths = np.random.default_rng(0).integers(3, 40, 500).tolist()
    one, two = (epoch_batches(lengths, 16, 0, epoch) for epoch in (0, 1))
    assert {frozenset(rows.tolist()) for rows in one}.isdisjoint({frozenset(rows.tolist()) for rows in two})
    assert [lengths[rows[0]] for rows in one] != sorted(lengths[rows[0]] for rows in one)


def test_padding_is_small():
    lengths = np.random.default_rng(0).integers(3, 60, 1000).tolist()
    padded = sum(len(rows) * max(lengths[row] for row in rows) for rows in epoch_batches(lengths, 32, 0, 0))
    assert padded < 1.12 * sum(lengths)  # in arrival order it is 1.85 times


@given(lengths=LENGTHS, batch=some.integers(1, 16), most=some.integers(1, 300))
def test_sorted_batches_hold_every_row_and_no_more_tokens_than_allowed(lengths, batch, most):
    batches = sorted_batches(lengths, batch, most)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    for rows in batches:
        assert len(rows) <= batch
        assert len(rows) == 1 or len(rows) * max(lengths[row] for row in rows) <= most
    firsts = [lengths[rows[0]] for rows in batches]
    assert firsts == sorted(firsts, reverse=True)


@given(
    lengths=some.lists(some.integers(0, 9), min_size=1, max_size=30).filter(any),
    batch=some.integers(1, 7),
    per_token=some.booleans(),
)
def test_what_batches_gave_comes_back_in_the_order_of_the_rows(lengths, batch, per_token):
    drawn = np.random.default_rng(0)
    values = [drawn.normal(size=(length if per_token else 1, 3)).astype(np.float32) for length in lengths]

    def parts():
        for rows in sorted_batches(lengths, batch, 40):
            yield rows, np.concatenate([values[row] for row in rows])

    batches = in_order(parts(), np.array(lengths), per_token)
    assert batches.dtype == np.float32
    assert batches.tolist() == [entry.tolist() for row in values for entry in row]


def test_in_order_by_hand():
    parts = [(np.array([2, 0]), np.array([[5], [6], [1]])), (np.array([1]), np.array([[3]]))]
    assert in_order(parts, np.array([1, 1, 2]), per_token=True).tolist() == [[1], [3], [5], [6]]
    parts = [(np.array([2, 0]), np.array([[5], [1]])), (np.array([1]), np.array([[3]]))]
    assert in_order(parts, np.array([1, 1, 2]), per_token=False).tolist() == [[1], [3], [5]]
    assert in_order([], np.zeros(0, dtype=np.int64), per_token=True).shape[0] == 0
