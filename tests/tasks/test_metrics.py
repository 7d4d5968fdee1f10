"""Scores are those of scikit-learn and scipy on anything drawn, by hand where few rows suffice, and 0 where undefined."""

import warnings

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

from niwaki.tasks import _metrics as metrics

MANY = examples(max_examples=150)
ALIKE = pytest.approx


@pytest.fixture(autouse=True)
def _quiet():
    """The references warn where a score is undefined; ours must not warn anywhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", scipy.stats.ConstantInputWarning)  # one of them
        warnings.filterwarnings("ignore", "A single label was found", UserWarning)
        yield


def same(ours: float, theirs: float) -> None:
    assert type(ours) is float
    assert ours == ALIKE(float(theirs), abs=1e-9, rel=0)


def pairs(labels: int):
    """Rows of (predicted, gold); small, so that one label only, and labels on one side only, come up often."""
    return some.lists(some.tuples(some.integers(0, labels - 1), some.integers(0, labels - 1)), min_size=1, max_size=30)


def columns(rows) -> tuple[np.ndarray, np.ndarray]:
    predicted, gold = zip(*rows, strict=True)
    return np.array(predicted), np.array(gold)


tables = some.tuples(some.integers(1, 12), some.integers(1, 5)).flatmap(
    lambda shape: some.tuples(arrays(bool, shape), arrays(bool, shape))
)
# few values: ties and constants come up often; halves and tenths: not all of them are exact in binary
numbers = some.one_of(some.integers(-3, 3).map(float), some.integers(-40, 40).map(lambda k: k / 10))
vectors = some.integers(2, 30).flatmap(
    lambda rows: some.tuples(*[some.lists(numbers, min_size=rows, max_size=rows).map(np.array)] * 2)
)


@MANY
@given(some.integers(1, 5).flatmap(pairs))
def test_labels_are_scored_as_scikit_learn_does(rows):
    predicted, gold = columns(rows)
    same(metrics.accuracy(predicted, gold), sklearn.metrics.accuracy_score(gold, predicted))
    same(
        metrics.f1_macro(predicted, gold, 5),
        sklearn.metrics.f1_score(gold, predicted, average="macro", zero_division=0),
    )
    same(metrics.matthews(predicted, gold), sklearn.metrics.matthews_corrcoef(gold, predicted))


@MANY
@given(pairs(2), some.integers(0, 1))
def test_f1_of_one_label_is_scikit_learns(rows, positive):
    predicted, gold = columns(rows)
    theirs = sklearn.metrics.f1_score(gold, predicted, labels=[0, 1], pos_label=positive, zero_division=0)
    same(metrics.f1_binary(predicted, gold, positive), theirs)


@MANY
@given(tables)
def test_several_labels_are_scored_as_scikit_learn_does(table):
    predicted, gold = table
    # a single column would be read as one label per row there; a second one that is never set changes neither of these
    wide = [np.hstack([side, np.zeros((len(side), 1), dtype=bool)]) for side in (gold, predicted)]
    same(metrics.accuracy_many(predicted, gold), sklearn.metrics.accuracy_score(*wide))
    same(metrics.f1_micro_many(predicted, gold), sklearn.metrics.f1_score(*wide, average="micro", zero_division=0))
    same(metrics.f1_samples(predicted, gold), sklearn.metrics.f1_score(*wide, average="samples", zero_division=0))
    same(metrics.f1_macro_many(*wide[::-1]), sklearn.metrics.f1_score(*wide, average="macro", zero_division=0))


@MANY
@given(vectors)
def test_correlations_are_scipys(sides):
    a, b = sides
    linear, ranked = scipy.stats.pearsonr(a, b).statistic, scipy.stats.spearmanr(a, b).statistic
    same(metrics.pearson(a, b), 0.0 if np.isnan(linear) else linear)
    same(metrics.spearman(a, b), 0.0 if np.isnan(ranked) else ranked)
    assert metrics.ranks(a).tolist() == scipy.stats.rankdata(a).tolist()


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32, np.float64])
def test_correlations_of_every_kind_of_number(kind):
    draw = np.random.default_rng(0)
    a = draw.integers(0, 50, 400)
    b = a + draw.integers(0, 40, 400)
    same(metrics.pearson(a.astype(kind), b.astype(kind)), scipy.stats.pearsonr(a, b).statistic)
    same(metrics.spearman(a.astype(kind), b.astype(kind)), scipy.stats.spearmanr(a, b).statistic)


# worked out by hand

PREDICTED, GOLD = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 1, 2, 0])


def test_labels_by_hand():
    assert metrics.accuracy(PREDICTED, GOLD) == ALIKE(4 / 6)
    # F1: label 0 has 1 hit, 2 predicted, 2 gold; label 1 has 2, 2, 3; label 2 has 1, 2, 1
    assert metrics.f1_macro(PREDICTED, GOLD, 3) == ALIKE((2 / 4 + 4 / 5 + 2 / 3) / 3)
    assert metrics.f1_macro(PREDICTED, GOLD, 9) == metrics.f1_macro(
        PREDICTED, GOLD, 3
    )  # what occurs nowhere is left out
    assert metrics.f1_binary(PREDICTED, GOLD) == ALIKE(4 / 5)
    assert metrics.f1_binary(PREDICTED, GOLD, positive=2) == ALIKE(2 / 3)
    # (4 hits × 6 rows - (2×2 + 2×3 + 2×1)) / √((36 - 12) × (36 - 14))
    assert metrics.matthews(PREDICTED, GOLD) == ALIKE(12 / np.sqrt(24 * 22))


def test_several_labels_by_hand():
    predicted = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]], dtype=bool)
    gold = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0]], dtype=bool)
    assert metrics.accuracy_many(predicted, gold) == ALIKE(2 / 3)
    assert metrics.f1_micro_many(predicted, gold) == ALIKE(2 * 2 / (3 + 2))
    assert metrics.f1_macro_many(predicted, gold) == ALIKE((1 + 2 / 3 + 0) / 3)  # the third label is nowhere and counts
    assert metrics.f1_samples(predicted, gold) == ALIKE((2 / 3 + 1 + 0) / 3)


def test_correlations_by_hand():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 9.0])
    assert metrics.pearson(a, b) == ALIKE(8 / np.sqrt(2 * 38))  # deviations -1, 0, 1 and -3, -2, 5
    assert metrics.spearman(a, b) == ALIKE(1)
    assert metrics.spearman(a, -b) == ALIKE(-1)
    assert metrics.ranks(np.array([5.0, 1.0, 5.0, 0.0])).tolist() == [3.5, 2, 3.5, 1]


# the edges


def test_no_rows_score_nothing():
    none, table = np.zeros(0, dtype=np.int64), np.zeros((0, 3), dtype=bool)
    for score in (metrics.accuracy, metrics.f1_binary, metrics.matthews, metrics.pearson, metrics.spearman):
        assert score(none, none) == 0.0
    assert metrics.f1_macro(none, none, 3) == 0.0
    for score in (metrics.accuracy_many, metrics.f1_micro_many, metrics.f1_macro_many, metrics.f1_samples):
        assert score(table, table) == 0.0


def test_nothing_predicted_scores_nothing():
    nothing, all_true = np.zeros((4, 3), dtype=bool), np.ones((4, 3), dtype=bool)
    for score in (metrics.accuracy_many, metrics.f1_micro_many, metrics.f1_macro_many, metrics.f1_samples):
        assert score(nothing, all_true) == 0.0
    assert metrics.accuracy_many(nothing, nothing) == 1.0 and metrics.f1_micro_many(nothing, nothing) == 0.0


@pytest.mark.parametrize("score", [metrics.pearson, metrics.spearman, metrics.matthews])
def test_a_constant_side_correlates_with_nothing(score):
    varied, constant = np.arange(10), np.full(10, 3)
    assert score(constant, varied) == score(varied, constant) == score(constant, constant) == 0.0
    assert score(varied[:1], varied[:1]) == 0.0


def test_a_constant_that_has_no_exact_mean_is_constant():
    constant = np.full(3, 0.1)
    assert constant.mean() != 0.1  # else this test shows nothing
    assert metrics.pearson(constant, np.arange(3)) == metrics.pearson(np.arange(3), constant) == 0.0


def test_diverged_predictions_do_not_get_a_score():
    broken = np.array([1.0, np.nan, 2.0])
    assert np.isnan(metrics.pearson(broken, np.arange(3))) and np.isnan(metrics.spearman(broken, np.arange(3)))


def test_very_large_and_very_small_numbers():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 9.0])
    for scale in (1e-200, 1e200):
        assert metrics.pearson(a * scale, b * scale) == ALIKE(metrics.pearson(a, b))


def test_many_rows_do_not_overflow():
    draw = np.random.default_rng(0)
    gold = draw.integers(0, 3, 200_000)
    predicted = np.where(draw.random(len(gold)) < 0.7, gold, draw.integers(0, 3, len(gold)))
    same(metrics.matthews(predicted, gold), sklearn.metrics.matthews_corrcoef(gold, predicted))


def test_labels_outside_of_the_range_are_not_counted_as_others():
    with pytest.raises(ValueError, match="labels: 2 are expected, and number 2 occurs"):
        metrics.f1_macro(PREDICTED, GOLD, 2)
    with pytest.raises(ValueError):
        metrics.f1_macro(np.array([0, -100]), np.array([0, 1]), 2)
