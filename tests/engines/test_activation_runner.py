"""Sequences of one length run together only if that gives the same bits as each alone."""

import numpy as np
import pytest

import tiny
from niwaki.answers._answer_type import EncodedInputs
from niwaki.data.ragged import Ragged
from niwaki.engines import activation_runner
from niwaki.engines.activation_runner import ActivationRunner, group_by_length, token_chunks
from niwaki.models.edits.int8 import Int8

NAMES = ("hidden.1", "scores.0")


@pytest.fixture
def texts():
    draw = np.random.default_rng(0)
    lengths = [5, 9, 5, 3, 9, 5, 2, 5, 9, 5, 5, 5, 5, 5, 5]
    ids = Ragged.of(draw.integers(5, 40, length) for length in lengths)
    types = Ragged.of(np.zeros(length, dtype=np.int64) for length in lengths)
    return EncodedInputs({"input_ids": ids, "token_type_ids": types}, np.arange(len(lengths)), [])


def one_by_one(model, texts):
    """Each by a call of its own, so that nothing can be together."""
    reading = ActivationRunner(model, NAMES, 1)
    return [next(iter(reading(texts, [number]))) for number in range(len(texts))]


def same(outputs, others) -> bool:
    return all(
        np.array_equal(one[name], other[name]) for one, other in zip(outputs, others, strict=True) for name in one
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_grouped_sequences_give_the_same_bits_in_order(texts, threads, monkeypatch):
    model = tiny.model("bert")
    reading = ActivationRunner(model, NAMES, threads)
    assert same(reading(texts, range(len(texts))), one_by_one(model, texts))
    assert reading.group_size == activation_runner.GROUP_SIZE
    monkeypatch.setattr(activation_runner, "CHUNK_TOKENS", 12)  # several chunks
    assert same(reading(texts, range(len(texts))), one_by_one(model, texts))


def test_sequences_run_alone_if_a_batch_changes_the_bits(texts):
    """Inputs in 8 bits have one scale for all that is read together."""
    model = tiny.model("bert")
    model.apply_edit(Int8())
    reading = ActivationRunner(model, NAMES, 1)
    assert same(reading(texts, range(len(texts))), one_by_one(model, texts))
    assert reading.group_size == 1


def test_groups_by_length_and_chunks_of_tokens():
    lengths = np.array([5, 9, 5, 3, 5])
    assert group_by_length([0, 1, 2, 3, 4], lengths, 2) == [[3], [0, 2], [4], [1]]
    assert group_by_length([4, 1, 0], lengths, 2) == [[4, 0], [1]]
    assert group_by_length([], lengths, 8) == []
    assert list(token_chunks([0, 1, 2], np.array([5000, 4000, 1]))) == [[0, 1], [2]]
    assert list(token_chunks([], lengths)) == []
