"""Scores with intervals, and differences: against scipy's bootstrap, by hand, and by their coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as some
from scipy import stats

from niwaki.evaluate import quality as module
from niwaki.evaluate.quality import difference, quality
from niwaki.tasks.classification import Classification
from niwaki.tasks.regression import Regression

TASK = Classification(path="x")


def drawn(rows: int, right: float, seed: int = 0, labels: int = 2) -> np.ndarray:
    """(rows, 2): predictions and labels of a model with a given accuracy."""
    draw = np.random.default_rng(seed)
    gold = draw.integers(0, labels, rows)
    wrong = (gold + draw.integers(1, labels, rows)) % labels
    return np.stack([np.where(draw.random(rows) < right, gold, wrong), gold], axis=1)


@pytest.fixture
def few_resamples(monkeypatch):
    monkeypatch.setattr(module, "RESAMPLES", 100)


@examples(max_examples=10)
@given(some.lists(some.tuples(some.integers(0, 2), some.integers(0, 2)), min_size=1, max_size=25))
def test_the_interval_contains_the_value(rows):
    module.RESAMPLES, before = 100, module.RESAMPLES
    try:
        found = quality(TASK, np.array(rows))
    finally:
        module.RESAMPLES = before
    for score in found["all"].values():
        assert 0 <= score["low"] <= score["value"] <= score["high"] <= 1


def test_accuracy_by_hand_and_its_interval():
    example_stats = drawn(400, 0.8)
    found = quality(TASK, example_stats)
    value = (example_stats[:, 0] == example_stats[:, 1]).mean()
    assert found["metric"] == "accuracy" and found["value"] == found["all"]["accuracy"]["value"] == pytest.approx(value)
    assert found["rows"] == 400
    half = 1.96 * np.sqrt(value * (1 - value) / 400)  # the normal approximation
    assert found["low"] == pytest.approx(value - half, abs=0.008)
    assert found["high"] == pytest.approx(value + half, abs=0.008)


def test_the_same_seed_draws_the_same_rows():
    example_stats = drawn(60, 0.7)
    assert quality(TASK, example_stats, seed=3) == quality(TASK, example_stats, seed=3)
    assert quality(TASK, example_stats, seed=3) != quality(TASK, example_stats, seed=4)


def by_scipy(example_stats: tuple[np.ndarray, ...], statistic) -> tuple[float, float]:
    """Percentiles of rows drawn with replacement, the same rows from all that is given."""
    places = np.arange(len(example_stats[0]))
    found = stats.bootstrap(
        (places,),
        lambda rows: statistic(*(one[rows] for one in example_stats)),
        n_resamples=1000,
        method="percentile",
        vectorized=False,
        random_state=np.random.default_rng(0),
    )
    return found.confidence_interval.low, found.confidence_interval.high


def test_intervals_are_those_of_scipys_bootstrap():
    example_stats = drawn(250, 0.7, labels=3)
    found = quality(TASK, example_stats)
    for name, score in found["all"].items():
        low, high = by_scipy((example_stats,), lambda rows, name=name: TASK.scorer.scores(rows)[name])
        assert score["low"] == pytest.approx(low, abs=0.012) and score["high"] == pytest.approx(high, abs=0.012)
    draw = np.random.default_rng(2)
    numbers = draw.normal(size=(150, 2)) @ [[1, 0.8], [0, 0.6]]
    task = Regression(path="x")
    low, high = by_scipy((numbers,), lambda rows: task.scorer.scores(rows)["mean"])
    assert quality(task, numbers)["low"] == pytest.approx(low, abs=0.03)
    assert quality(task, numbers)["high"] == pytest.approx(high, abs=0.03)


def accuracy(example_stats: np.ndarray) -> float:
    return float((example_stats[:, 0] == example_stats[:, 1]).mean())


def alike(rows: int, a: float, b: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two models that mostly fail on the same rows, as models of one family do."""
    draw = np.random.default_rng(seed)
    gold, hard = draw.integers(0, 2, rows), draw.random(rows)
    return tuple(np.stack([np.where(hard < right, gold, 1 - gold), gold], axis=1) for right in (a, b))


def test_a_difference_is_paired_as_scipys():
    one, two = alike(300, 0.84, 0.80)
    found = difference(TASK, [one], [two])
    assert found["difference"] == pytest.approx(accuracy(one) - accuracy(two))
    low, high = by_scipy((one, two), lambda a, b: accuracy(a) - accuracy(b))
    assert found["low"] == pytest.approx(low, abs=0.006) and found["high"] == pytest.approx(high, abs=0.006)
    apart = [quality(TASK, of) for of in (one, two)]
    assert found["high"] - found["low"] < 0.7 * max(score["high"] - score["low"] for score in apart)  # pairing helps


def test_equal_models_show_no_difference():
    one = drawn(200, 0.8)
    found = difference(TASK, [one], [one.copy()])
    assert (found["difference"], found["low"], found["high"], found["shown"]) == (0, 0, 0, False)
    found = difference(TASK, [drawn(200, 0.8, seed=1)], [drawn(200, 0.8, seed=1)[::-1]])  # as good, on other rows
    assert not found["shown"] and found["low"] < 0 < found["high"]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_clear_difference_is_shown_either_way(sign):
    better, worse = alike(300, 0.9, 0.7)
    pair = ([better], [worse])[::sign]
    found = difference(TASK, *pair)
    assert found["shown"] and sign * found["low"] > 0 and sign * found["high"] > 0
    assert found["low"] <= found["difference"] <= found["high"]


def test_a_difference_of_the_rows_that_is_none_of_the_seeds_is_not_shown():
    """Three seeds that scatter as widely as the models differ: the rows alone would have shown it."""
    a = [alike(2000, right, 0)[0] for right in (0.90, 0.80, 0.70)]
    b = [alike(2000, right, 0)[0] for right in (0.86, 0.76, 0.66)]
    found = difference(TASK, a, b)
    assert found["difference"] == pytest.approx(0.04, abs=0.005) and not found["shown"]
    assert difference(TASK, a[1:2], b[1:2])["shown"]  # one seed of each: only rows are drawn
    steady = difference(TASK, [a[1]] * 3, [b[1]] * 3)  # seeds that agree add nothing
    assert steady["shown"] and steady["high"] - steady["low"] < 0.5 * (found["high"] - found["low"])


def test_the_mean_over_seeds_by_hand():
    a, b = [drawn(301, right, seed=4) for right in (0.9, 0.6)], [drawn(301, 0.7, seed=4)]
    wanted = (accuracy(a[0]) + accuracy(a[1])) / 2 - accuracy(b[0])
    assert difference(TASK, a, b)["difference"] == pytest.approx(wanted)
    assert difference(TASK, a, b, seed=5) == difference(TASK, a, b, seed=5) != difference(TASK, a, b, seed=6)


def test_intervals_have_their_coverage(few_resamples):
    """Of 100 draws of rows, about 95 intervals hold the true value, and few show a difference where there is none."""
    held = shown = 0
    for seed in range(100):
        found = quality(TASK, drawn(150, 0.8, seed=seed), seed=seed)
        held += found["low"] <= 0.8 <= found["high"]
        pair = ([drawn(150, 0.8, seed=seed)], [drawn(150, 0.8, seed=seed + 1000)])
        gold = pair[0][0][:, 1]
        other = np.stack([np.where(pair[1][0][:, 0] == pair[1][0][:, 1], gold, 1 - gold), gold], axis=1)
        shown += difference(TASK, pair[0], [other], seed=seed)["shown"]
    assert 85 <= held <= 100 and shown <= 13
