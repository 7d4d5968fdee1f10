"""Hidden spans: by hand from fixed draws, as often and as long as defined, and put back exactly."""

from itertools import pairwise
from math import comb

import numpy as np
import pytest

from niwaki.tokenization.span_noise import random_parts, random_spans, random_tokens, with_sentinels, without_hidden

from .noise import SENTINELS, Fixed, draws

IDS = np.arange(10, 20)


def mask(*places, length=10):
    return np.isin(np.arange(length), places)


def restored(read, generated, sentinels):
    """A text from what is read and what is generated."""
    number = {int(one): place for place, one in enumerate(sentinels)}
    cuts = np.flatnonzero(np.isin(generated, sentinels))
    spans = [generated[first + 1 : last] for first, last in pairwise(cuts)]
    parts = [spans[number[int(one)]] if int(one) in number else [one] for one in read]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=int)


def test_spans_by_hand():
    """4 of 10 tokens in 2 spans: 8 in parts of 3, 4 and 1, which stand for 2, 4 and 0 others; 4 hidden ones in parts of 3 and 1."""
    hidden = random_spans(10, 0.4, 2.0, Fixed([2, 6, 0, 1, 3, 4, 5], [2, 0, 1]))
    assert np.flatnonzero(hidden).tolist() == [2, 3, 4, 9]
    read, generated = with_sentinels(IDS, hidden, SENTINELS)
    assert read.tolist() == [10, 11, 90, 15, 16, 17, 18, 91]
    assert generated.tolist() == [90, 12, 13, 14, 91, 19, 92]


def test_tokens_by_hand():
    hidden = random_tokens(10, 0.25, 3.0, Fixed([0.2, 0.1, 0.3, 0.9, 0.24, 0.25, 0.9, 0.9, 0.9, 0.9]))
    assert np.flatnonzero(hidden).tolist() == [0, 1, 4]
    read, generated = with_sentinels(IDS, hidden, SENTINELS)
    assert read.tolist() == [90, 12, 13, 91, 15, 16, 17, 18, 19]
    assert generated.tolist() == [90, 10, 11, 91, 14, 92]
    read, generated = without_hidden(IDS, hidden, SENTINELS)
    assert (read.tolist(), generated.tolist()) == ([12, 13, 15, 16, 17, 18, 19], [10, 11, 14])


def test_a_token_is_hidden_even_if_none_is_drawn():
    assert np.flatnonzero(random_tokens(4, 0.1, 3.0, Fixed([0.5] * 4, 2))).tolist() == [2]


def test_spans_without_a_sentinel_are_not_hidden():
    read, generated = with_sentinels(IDS, mask(0, 2, 3, 6, 9), SENTINELS)  # four sentinels serve three spans
    assert read.tolist() == [90, 11, 91, 14, 15, 92, 17, 18, 19]
    assert generated.tolist() == [90, 10, 91, 12, 13, 92, 16, 93]


@pytest.mark.parametrize("spans", [random_spans, random_tokens])
def test_texts_are_restored_exactly(spans):
    sentinels = np.arange(1000, 1100)
    for draw, ids in draws(80):
        rate, mean = draw.uniform(0.05, 0.9), draw.uniform(1, 12)
        for some in (sentinels, sentinels[:3]):
            read, generated = with_sentinels(ids, spans(len(ids), rate, mean, draw), some)
            assert restored(read, generated, some).tolist() == ids.tolist()
            used = np.isin(read, some).sum()
            assert generated[-1] == some[used] and np.isin(generated, some).sum() == used + 1


def test_numbers_of_hidden_tokens_and_spans_are_as_defined():
    """T5: round(n × rate) tokens in round(tokens / mean) spans."""
    for length in (20, 64, 128, 512):
        for seed in range(20):
            hidden = random_spans(length, 0.15, 3.0, np.random.default_rng(seed))
            starts = (np.diff(hidden.astype(int), prepend=0) == 1).sum()
            assert hidden.sum() == round(length * 0.15) and starts == round(round(length * 0.15) / 3)


def test_a_single_span_may_lie_anywhere():
    """2 of 7 tokens: six places, by a chi-square test with 5 degrees of freedom (20.5 at p = 0.001)."""
    draw = np.random.default_rng(0)
    counts = np.zeros(6)
    for _ in range(3000):
        hidden = np.flatnonzero(random_spans(7, 0.3, 3.0, draw))
        assert hidden[1] == hidden[0] + 1 and len(hidden) == 2
        counts[hidden[0]] += 1
    assert ((counts - 500) ** 2 / 500).sum() < 20.5


def test_divisions_are_equally_likely():
    """4 tokens in 3 parts: three divisions, by a chi-square test with 2 degrees of freedom (13.8 at p = 0.001)."""
    draw = np.random.default_rng(0)
    found = [tuple(random_parts(4, 3, draw).tolist()) for _ in range(3000)]
    counts = np.array([found.count(one) for one in ((2, 1, 1), (1, 2, 1), (1, 1, 2))])
    assert counts.sum() == 3000 and ((counts - 1000) ** 2 / 1000).sum() < 13.8


def test_lengths_of_spans_are_those_of_random_divisions():
    """A part of a division of n into k has length l with probability C(n - l - 1, k - 2) / C(n - 1, k - 1)."""
    total, parts, draw = 19, 6, np.random.default_rng(1)  # 128 tokens
    lengths = np.concatenate([random_parts(total, parts, draw) for _ in range(2000)])
    wanted = np.array([comb(total - n - 1, parts - 2) / comb(total - 1, parts - 1) for n in range(1, 9)]) * len(lengths)
    counts = np.bincount(lengths, minlength=9)[1:9]
    assert lengths.mean() == pytest.approx(total / parts)
    assert ((counts - wanted) ** 2 / wanted).sum() < 26.1  # 8 degrees of freedom, p = 0.001


def test_the_share_of_tokens_that_are_drawn_one_by_one_is_the_rate():
    draw = np.random.default_rng(0)
    hidden = np.concatenate([random_tokens(100, 0.15, 3.0, draw) for _ in range(1000)])
    assert hidden.mean() == pytest.approx(0.15, abs=4 * (0.15 * 0.85 / 100_000) ** 0.5)


@pytest.mark.parametrize("length, hidden", [(0, 0), (1, 1), (2, 1), (3, 1)])
def test_short_texts(length, hidden):
    found = random_spans(length, 0.15, 3.0, np.random.default_rng(0))
    assert (len(found), found.sum()) == (length, hidden)
    read, generated = with_sentinels(np.arange(length), found, SENTINELS)
    assert restored(read, generated, SENTINELS).tolist() == list(range(length))
