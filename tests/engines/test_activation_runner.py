"""Texts of one length are read together where that gives the same bits as each alone, and nowhere else."""

import numpy as np
import pytest

import tiny
from niwaki.engines import activation_runner
from niwaki.engines.activation_runner import ActivationRunner, group_by_length, token_chunks
from niwaki.models.edits.int8 import Int8

NAMES = ("hidden.1", "scores.0")


@pytest.fixture
def texts():
    draw = np.random.default_rng(0)
    lengths = [5, 9, 5, 3, 9, 5, 2, 5, 9, 5, 5, 5, 5, 5, 5]
    return [(draw.integers(5, 40, length), np.zeros(length, dtype=np.int64)) for length in lengths]


def one_by_one(model, texts):
    """Each by a call of its own, so that nothing can be together."""
    reading = ActivationRunner(model, NAMES, 1)
    return [next(iter(reading([text]))) for text in texts]


def same(said, others) -> bool:
    return all(np.array_equal(one[name], other[name]) for one, other in zip(said, others, strict=True) for name in one)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_bits_in_the_same_order(texts, threads, monkeypatch):
    model = tiny.model("bert")
    reading = ActivationRunner(model, NAMES, threads)
    assert same(reading(texts), one_by_one(model, texts))
    assert reading.together == activation_runner.GROUP_TEXTS
    monkeypatch.setattr(activation_runner, "CHUNK_TOKENS", 12)  # several stretches
    assert same(reading(texts), one_by_one(model, texts))


def test_one_by_one_where_company_changes_the_answer(texts):
    """Inputs in 8 bits have one scale for all that is read together."""
    model = tiny.model("bert")
    model.apply_edit(Int8())
    reading = ActivationRunner(model, NAMES, 1)
    assert same(reading(texts), one_by_one(model, texts))
    assert reading.together == 1


def test_groups_and_stretches():
    assert group_by_length([5, 9, 5, 3, 5], 2) == [[3], [0, 2], [4], [1]]
    assert group_by_length([], 8) == []
    given = [(np.zeros(length), np.zeros(length)) for length in (5000, 4000, 1)]
    assert [len(some) for some in token_chunks(given)] == [2, 1]
    assert list(token_chunks([])) == []
