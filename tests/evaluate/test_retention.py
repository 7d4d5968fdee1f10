"""The retention test: against scipy's exact binomial test, against simulations, and by hand."""

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from niwaki.evaluate.retention import INTERVAL_SHARE, bootstrap_low, keeps_score, p_value, score, with_losses
from niwaki.tasks import TASKS
from niwaki.tasks._metrics import accuracy, all_labels_wrong, f1_binary
from niwaki.tasks._task import Task
from niwaki.tasks._translation_scores import counts


class FakeTask:
    def __init__(self, metric="accuracy"):
        self.metric, self.scorer = metric, self

    def scores(self, example_stats):
        return {"accuracy": accuracy(*example_stats.T), "f1": f1_binary(*example_stats.T)}

    def all_wrong(self, example_stats):
        return all_labels_wrong(example_stats)


def example_stats(rows, lost, gained, right):
    """The better model is right in `right` rows; of them the other loses some, of the rest it gains some."""
    gold = np.arange(rows) % 2
    best, other = gold.copy(), gold.copy()
    best[right:] = 1 - gold[right:]
    other[right + gained :] = 1 - gold[right + gained :]
    other[:lost] = 1 - gold[:lost]
    return np.stack([best, gold], axis=1), np.stack([other, gold], axis=1)


def test_without_gains_it_is_nearly_the_binomial_test():
    """A better model that is always right: nothing can be gained, and so few losses have the binomial's chance."""
    for lost in range(6):
        found = p_value(lost, 0, 1000, 1000, 0.99, 0.05)
        margin = 0.01 * (0.05 * INTERVAL_SHARE) ** (1 / 1000)  # the low end of an accuracy of 1, in closed form
        exact = binom.cdf(lost, 1000, margin)
        assert exact < found < exact + 0.07 and found >= 2 * 0.05 * INTERVAL_SHARE


def test_score_by_hand():
    """No margin: the losses against the gains, McNemar's statistic without its square."""
    assert score(np.array(9), np.array(16), 100, 0.0) == pytest.approx((9 - 16) / 5)
    assert score(np.array(0), np.array(0), 100, 0.0) == 0
    # none seen: the likeliest P(gained) is 0, so the spread is that of the binomial at the margin
    assert score(np.array(0), np.array(0), 400, 0.02) == pytest.approx(-8 / np.sqrt(400 * 0.02 * 0.98))


@pytest.mark.parametrize("gain", [0.0, 0.02, 0.08])
def test_error_rate_at_the_margin_is_within_the_level(gain):
    """The sum over all results, where exactly the margin is lost: every one that passes counts with its chance."""
    rows, keep, wrong, right = 120, 0.9, 0.1, 0.95
    margin = (1 - keep) * right
    passes = 0.0
    for lost in range(60):
        for gained in range(40):
            weight = multinomial.pmf(
                [lost, gained, rows - lost - gained], rows, [gain + margin, gain, 1 - 2 * gain - margin]
            )
            if weight > 1e-6 and p_value(lost, gained, int(right * rows), rows, keep, wrong) <= wrong:
                passes += weight
    assert 0.01 < passes <= wrong


def test_normal_approximation_agrees_for_many_rows():
    near = [p_value(lost, 300, 18_000, 20_000, 0.99, 0.05) for lost in (380, 420, 460)]
    assert near[0] < 0.05 < near[2] and near == sorted(near)


def test_keeps_score_by_hand():
    assert keeps_score(FakeTask(), *example_stats(1000, 3, 2, 950), 0.99, 0.95)
    assert not keeps_score(FakeTask(), *example_stats(1000, 9, 1, 950), 0.99, 0.95)
    assert not keeps_score(FakeTask(), *example_stats(100, 0, 0, 95), 0.99, 0.95)  # too few rows to show it
    assert keeps_score(FakeTask(), *example_stats(100, 0, 0, 95), 1.0, 0.95)  # the same answers keep all
    assert keeps_score(FakeTask("f1"), *example_stats(1000, 2, 2, 950), 0.99, 0.95)
    assert not keeps_score(FakeTask("f1"), *example_stats(1000, 9, 1, 950), 0.99, 0.95)
    assert not keeps_score(FakeTask("f1"), *example_stats(60, 0, 0, 55), 0.99, 0.95)


def test_bootstrap_counts_two_more_losses():
    best, other = example_stats(200, 5, 3, 180)
    changed = with_losses(FakeTask(), best, other, 2)
    assert accuracy(*changed.T) == accuracy(*other.T) - 2 / 200 and (changed[:, 1] == other[:, 1]).all()
    plain = np.quantile(
        [
            accuracy(*other[rows].T) - accuracy(*best[rows].T)
            for rows in np.random.default_rng(0).integers(0, 200, (500, 200))
        ],
        0.05,
    )
    assert bootstrap_low(FakeTask(), best, other, 1.0, 0.95) < plain - 1.5 / 200


def test_exact_match_is_tested_like_accuracy():
    for rows, lost, gained, right in ((1000, 3, 2, 950), (1000, 9, 1, 950), (100, 0, 0, 95)):
        pairs = example_stats(rows, lost, gained, right)
        shares = [(one[:, :1] == one[:, 1:]).astype(int) for one in pairs]
        assert keeps_score(FakeTask("exact"), *shares, 0.99, 0.95) == keeps_score(FakeTask(), *pairs, 0.99, 0.95)


RIGHT = {  # outcomes of rows that are all right, but for the last, which has nothing that could be
    "tagging": np.array([[2, 2, 2, 5, 5], [1, 1, 1, 1, 4], [0, 0, 0, 3, 3]]),
    "roles": np.array([[3, 3, 3, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, *[0] * 7], [0, 0, 0, 2, 2, 2, *[0] * 4]]),
    "senses": np.array([[2, 2, 2, *[0] * 21], [*[0] * 18, 1, 1, 1, 1, 1, 1], [0] * 24]),
    "question_answering": np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]),
    "multilabel": np.array([[1, 0, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]], dtype=bool),
    "translation": np.hstack([[[1], [1], [0]], counts(["a b c d e", "x y z x y", ""], ["a b c d e", "x y z x y", ""])]),
}


HITS = {
    "tagging": [0],
    "roles": [0],
    "senses": [0, 18, 21],
    "question_answering": [1],
    "multilabel": [0, 1],
    "translation": [3, 4, 5, 6],
}


@pytest.mark.parametrize("name", RIGHT)
def test_lost_row_has_no_correct_part(name):
    task, right = TASKS.load(name, Task)(path="nowhere"), RIGHT[name]
    score = lambda some: task.scorer.scores(some)[task.metric]  # noqa: E731
    assert score(right[:2]) == pytest.approx(1) and score(task.scorer.all_wrong(right)) == 0
    assert (task.scorer.all_wrong(right)[2] == right[2]).all()  # nothing to lose
    assert np.flatnonzero((task.scorer.all_wrong(right) != right).any(axis=0)).tolist() == HITS[name]
    changed = with_losses(task, right, right, 2)
    assert (changed == task.scorer.all_wrong(right)).all() and not (changed == right).all()


def test_pseudo_losses_only_hit_rows_with_correct_parts():
    """Of 2,000 sentences 20 hold all names: what the others say shows nothing. Where all hold one, they do."""
    task = TASKS.load("tagging", Task)(path="nowhere")
    few, many = (np.tile([0, 0, 0, 5, 5], (2000, 1)) for _ in range(2))
    few[:20, :3] = many[:, :3] = 1
    assert not keeps_score(task, few, few, 0.9, 0.95) and keeps_score(task, many, many, 0.99, 0.95)
    worse = many.copy()
    worse[:60, 0] = 0
    assert not keeps_score(task, many, worse, 0.97, 0.95) and keeps_score(task, many, worse, 0.95, 0.95)
