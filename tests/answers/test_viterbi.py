"""The best valid sequence of tags is the best of all that are tried one by one; the fast way and the search agree."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from niwaki.answers._viterbi import TagDecoder

LABELS = ["O", "B-A", "I-A", "I-B", "B-B", "S-01"]


def is_valid(names):
    """The rule, predicted another way: what I-X follows ends in its X."""
    return all(
        not tag.startswith("I-") or before in (f"B-{tag[2:]}", tag) for before, tag in itertools.pairwise(["O", *names])
    )


def best_by_trying(scores):
    tried = [
        path
        for path in itertools.product(range(len(LABELS)), repeat=len(scores))
        if is_valid([LABELS[k] for k in path])
    ]
    return max(sum(scores[word, tag] for word, tag in enumerate(path)) for path in tried)


@given(words=some.integers(1, 4), seed=some.integers(0, 10_000))
def test_no_valid_sequence_is_better(words, seed):
    scores = np.random.default_rng(seed).normal(size=(words, len(LABELS))).astype(np.float32)
    found = TagDecoder(LABELS).best(scores)
    assert is_valid([LABELS[tag] for tag in found])
    assert scores[np.arange(words), found].sum() == pytest.approx(best_by_trying(scores), abs=1e-5)


@given(words=some.integers(1, 12), seed=some.integers(0, 10_000))
def test_what_is_valid_as_it_stands_is_what_the_search_finds(words, seed):
    paths = TagDecoder(LABELS)
    scores = np.random.default_rng(seed).normal(size=(words, len(LABELS)))
    plain = scores.argmax(axis=1)
    assert paths.valid(plain) == is_valid([LABELS[tag] for tag in plain])
    if paths.valid(plain):
        assert paths._searched(scores).tolist() == plain.tolist()


def test_by_hand():
    """I-A is the best of both words, but cannot be first: B-A I-A (1 + 3) is better than O and what may follow it (2 + 1)."""
    scores = np.array([[2.0, 1.0, 5.0, 0, 0, 0], [1.0, 0.0, 3.0, 0, 0, 0]])
    assert [LABELS[tag] for tag in TagDecoder(LABELS).best(scores)] == ["B-A", "I-A"]
    scores[1, 0] = 2.5
    assert [LABELS[tag] for tag in TagDecoder(LABELS).best(scores)] == ["O", "O"]


def test_tags_that_are_excluded_and_an_inside_without_a_beginning():
    paths = TagDecoder(["O", "I-A", "B-B", "S-01"])
    scores = np.array([[-np.inf, 9.0, 0.0, -np.inf], [-np.inf, -np.inf, -np.inf, 0.0], [0.0, 9.0, -1.0, -np.inf]])
    assert paths.best(scores).tolist() == [2, 3, 0]
