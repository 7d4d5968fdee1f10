"""Which tokens are sampled how often: by hand, and by a chi-square test against the softmax."""

import numpy as np
import pytest
from scipy.stats import chisquare

from niwaki.answers._answer_type import softmax
from niwaki.answers._sampling import Sampling, distribution, draw
from niwaki.core.errors import InputError
from niwaki.core.settings import check

LOGITS = np.log(np.array([0.1, 0.4, 0.2, 0.25, 0.05]))


def shares(**how):
    return distribution(LOGITS, Sampling(**how)).round(6).tolist()


def test_top_k_keeps_the_likeliest_tokens():
    assert shares(top_k=2) == [0, pytest.approx(0.4 / 0.65, abs=1e-6), 0, pytest.approx(0.25 / 0.65, abs=1e-6), 0]
    assert shares(top_k=9) == pytest.approx([0.1, 0.4, 0.2, 0.25, 0.05])


def test_the_nucleus_has_at_least_the_probability():
    assert shares(top_p=0.4) == [0, 1, 0, 0, 0]
    assert shares(top_p=0.41) == [0, pytest.approx(0.4 / 0.65, abs=1e-6), 0, pytest.approx(0.25 / 0.65, abs=1e-6), 0]
    assert [share > 0 for share in shares(top_p=0.9)] == [True, True, True, True, False]
    assert shares(top_k=3, top_p=0.5)[2] == 0  # of the three, the first two have 0.65 / 0.85 together


def test_temperature_sharpens_and_zero_is_greedy():
    squares = np.array([0.1, 0.4, 0.2, 0.25, 0.05]) ** 2
    assert shares(temperature=0.5) == pytest.approx(squares / squares.sum(), abs=1e-6)
    assert shares(temperature=0) == [0, 1, 0, 0, 0]
    assert shares(temperature=0.001) == pytest.approx([0, 1, 0, 0, 0])


def test_ties_go_to_lower_ids():
    flat = np.zeros(4)
    assert distribution(flat, Sampling(top_k=2)).tolist() == [0.5, 0.5, 0, 0]
    assert distribution(flat, Sampling(temperature=0)).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("how", [{"top_k": 7}, {"top_p": 0.3}, {"top_p": 0.999}, {"top_k": 900, "top_p": 0.8}], ids=str)
@pytest.mark.parametrize("spread", [0.1, 3.0])
def test_large_vocabularies_are_cut_as_if_they_were_sorted(how, spread):
    """Logits have few different values, so that ties are at every border."""
    logits, settings = np.random.default_rng(5).normal(0, spread, 3000).round(1), Sampling(**how)
    order = np.argsort(-logits, kind="stable")
    ranked = softmax(logits)[order]
    ranked[settings.top_k or len(ranked) :] = 0
    ranked /= ranked.sum()
    ranked[np.cumsum(ranked) - ranked >= settings.top_p] = 0
    wanted = np.zeros(3000)
    wanted[order] = ranked / ranked.sum()
    np.testing.assert_allclose(distribution(logits, settings), wanted, rtol=1e-9)


@pytest.mark.parametrize("how", [{}, {"temperature": 0.7}, {"top_k": 5}, {"top_p": 0.6, "temperature": 1.5}], ids=str)
def test_draws_have_the_frequencies_of_the_distribution(how):
    logits = np.random.default_rng(3).normal(size=17)
    wanted, generator = distribution(logits, Sampling(**how)), np.random.default_rng(0)
    counts = np.bincount([draw(wanted, generator) for _ in range(4000)], minlength=17)
    there = wanted > 0
    assert not counts[~there].any()
    assert chisquare(counts[there], 4000 * wanted[there]).pvalue > 0.01
    if not how:
        assert chisquare(counts, 4000 * softmax(logits)).pvalue > 0.01


def test_suppressed_tokens_are_never_drawn():
    logits = np.array([5.0, -np.inf, 1.0])
    assert distribution(logits, Sampling())[1] == 0

    class Last:
        def random(self):
            return 1.0

    assert draw(np.array([0.5, 0.5, 0.0]), Last()) == 1


def test_settings_that_mean_nothing_are_rejected():
    with pytest.raises(InputError, match=r"sample\.top_p"):
        check(Sampling, {"top_p": 0.0}, "sample")
