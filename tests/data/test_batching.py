"""Batches: every row once, the same for the same seed, little padding."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from niwaki.data.batching import epoch_batches, pad, sorted_batches

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


def test_pad_by_hand():
    filled, mask = pad([[5, 6, 7], [8], []], value=9)
    assert filled.tolist() == [[5, 6, 7], [8, 9, 9], [9, 9, 9]]
    assert mask.tolist() == [[True] * 3, [True, False, False], [False] * 3]
    assert pad([])[0].shape == (0, 1)
