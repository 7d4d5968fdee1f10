"""Noisy texts: by hand from fixed draws, and with the statistics of their definitions."""

import math

import numpy as np
import pytest

from niwaki.tokenization import text_noise
from niwaki.tokenization.text_noise import TEXT_NOISES, span_lengths

from .noise import KNOWN, MASK, STOP, Fixed, draws

IDS = np.arange(10, 20)
FEW = [0.1, 0.9, 0.9, 0.2, 0.9, 0.9, 0.9, 0.9, 0.9, 0.29]  # places 0, 3 and 9 at a rate of 0.3


def noisy(name, *values, ids=IDS, rate=0.3, mean=3.0):
    return TEXT_NOISES[name](ids, rate, mean, KNOWN, Fixed(*values)).tolist()


def test_masked_by_hand():
    assert noisy("mask", FEW) == [80, 11, 12, 80, 14, 15, 16, 17, 18, 80]


def test_bert_style_by_hand():
    """Place 3 becomes a random token, the other two are masked."""
    random = [0.5, 0.0, 0.5, 0.09, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1]
    assert noisy("bert", FEW, random, [40] * 10) == [80, 11, 12, 40, 14, 15, 16, 17, 18, 80]


def test_deleted_by_hand():
    assert noisy("delete", FEW) == [11, 12, 14, 15, 16, 17, 18]


def test_infilled_by_hand():
    """4 tokens in spans of 3, 0 and 1 (drawn as 2, and shortened), in this order at places 1, 4 and 5 of 6 others and 3 spans."""
    assert noisy("infill", [3, 0, 2, 9], [0, 1, 2], [5, 1, 4, 0], rate=0.4) == [10, 80, 14, 15, 80, 80, 17, 18, 19]


def test_a_span_of_no_token_may_lie_behind_the_text():
    assert noisy("infill", [3, 0, 5], [0, 1, 2], [0, 5, 6], ids=IDS[:8], rate=0.5) == [80, 13, 14, 15, 16, 80, 80]


def test_sentences_permuted_by_hand():
    ids = np.array([10, 11, STOP, 12, STOP, 13, 14])
    assert noisy("permute", [2, 0, 1], ids=ids) == [13, 14, 10, 11, STOP, 12, STOP]
    assert noisy("permute", [0], ids=np.array([10, STOP])) == [10, STOP]  # an end behind the last sentence begins none


def test_rotated_by_hand():
    assert noisy("rotate", 3) == [13, 14, 15, 16, 17, 18, 19, 10, 11, 12]


def test_shuffled_by_hand():
    assert noisy("shuffle", [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]) == IDS[::-1].tolist()


def test_combined_permutes_and_then_infills():
    ids = np.array([10, STOP, 11, 12])
    assert noisy("combined", [1, 0], [1], [0], [1], ids=ids) == [11, 80, 10, STOP]


@pytest.mark.parametrize("name", TEXT_NOISES)
def test_noise_gives_tokens_of_the_text_masks_and_random_tokens(name):
    for draw, ids in draws(100):
        found = TEXT_NOISES[name](ids, 0.3, 3.0, KNOWN, draw)
        assert set(found.tolist()) <= {*ids.tolist(), MASK, *(KNOWN.ordinary.tolist() if name == "bert" else ())}
        if name in ("permute", "rotate", "shuffle"):
            assert sorted(found.tolist()) == sorted(ids.tolist())
        if name in ("mask", "bert"):
            assert len(found) == len(ids)


@pytest.mark.parametrize("rate, mean", [(0.3, 3.0), (0.15, 3.0), (0.5, 1.0), (0.3, 20.0)])
def test_infilling_takes_as_many_tokens_as_the_rate_says(rate, mean):
    for draw, ids in draws(200, seed=1):
        found = text_noise.infill(ids, rate, mean, KNOWN, draw)
        others = found[found != MASK]
        assert len(others) == len(ids) - max(1, round(len(ids) * rate))
        rest = iter(ids.tolist())
        assert all(token in rest for token in others.tolist())  # in the order of the text


def test_lengths_of_spans_follow_a_poisson_distribution():
    """Of long texts, where few lengths are shortened: mean 3, and a chi-square test over 0 to 8 tokens (27.9 at p = 0.001)."""
    lengths = np.concatenate([span_lengths(10_000, 3.0, np.random.default_rng(seed)) for seed in range(5)])
    assert lengths.mean() == pytest.approx(3.0, abs=4 * (3 / len(lengths)) ** 0.5)
    wanted = np.array([3**n * math.exp(-3) / math.factorial(n) for n in range(9)]) * len(lengths)
    counts = np.bincount(lengths, minlength=9)[:9]
    assert ((counts - wanted) ** 2 / wanted).sum() < 27.9


def test_lengths_add_up_to_the_total():
    for seed in range(200):
        draw = np.random.default_rng(seed)
        total, mean = int(draw.integers(1, 60)), float(draw.uniform(1, 25))
        assert span_lengths(total, mean, draw).sum() == total


def test_places_of_spans_are_equally_likely():
    """One span of one token among 5 tokens: chi-square with 4 degrees of freedom (18.5 at p = 0.001)."""
    draw, counts = np.random.default_rng(0), np.zeros(5)
    found = [text_noise.infill(IDS[:5], 0.2, 1.0, KNOWN, draw) for _ in range(4000)]
    alone = [one for one in found if len(one) == 5]  # without inserted masks
    for one in alone:
        counts[one == MASK] += 1
    assert ((counts - len(alone) / 5) ** 2 / (len(alone) / 5)).sum() < 18.5


@pytest.mark.parametrize("name, share", [("mask", 0.3), ("bert", 0.3 * 0.9), ("delete", 0.3)])
def test_the_share_of_changed_tokens_is_the_rate(name, share):
    draw, ids = np.random.default_rng(0), np.arange(100) % 50 + 100
    known, size = KNOWN, 100_000
    found = [TEXT_NOISES[name](ids, 0.3, 3.0, known, draw) for _ in range(size // 100)]
    changed = sum(100 - len(one) if name == "delete" else int((one == MASK).sum()) for one in found)
    assert changed / size == pytest.approx(share, abs=4 * (share * (1 - share) / size) ** 0.5)
    if name == "bert":
        assert sum(int((one < 50).sum()) for one in found) / size == pytest.approx(0.03, abs=0.003)


@pytest.mark.parametrize("name", TEXT_NOISES)
@pytest.mark.parametrize("length", [0, 1, 2])
def test_short_texts(name, length):
    for seed in range(20):
        found = TEXT_NOISES[name](IDS[:length], 0.3, 3.0, KNOWN, np.random.default_rng(seed))
        assert found.ndim == 1 and (length or name in ("infill", "combined") or not len(found))
