"""Tests whether a model keeps a share of a better model's score, on the same rows.

Accuracy and exact match: an exact test. Of n rows, only the better model is right on `lost` and only the other on `gained`. Too much is
lost if P(lost) - P(gained) is above (1 - keep) × accuracy. The probability of the observed counts then depends on P(gained), which is
unknown: the test takes the worst case over an interval of it and adds the probability to miss the interval (Berger and Boos 1994). The
accuracy is replaced by the low end of its own interval in the same way.

Other scores: the paired bootstrap, with two more rows counted as lost. Rows that never disagree have no variance, so a bootstrap alone
would be certain of what twenty rows cannot show.
"""

from functools import lru_cache

import numpy as np

from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.quality import bootstrap_rows
from niwaki.tasks._task import Task

INTERVAL_SHARE = 0.1  # of the error probability, spent on each of the two intervals
GAINS = 25  # points of the interval that are tested
BEYOND = 1e-12  # less likely counts are ignored
MAX_CELLS = 250_000  # pairs of counts; beyond, the normal approximation
PSEUDO_LOSSES = 2


def keeps_score(task: Task, best: np.ndarray, other: np.ndarray, keep: float, level: float) -> bool:
    """Whether `other` has at least `keep` times the score of `best`, at the level; per-example statistics of the same rows."""
    if keep >= 1 and np.array_equal(best, other):
        return True
    right, also = (correct_rows(task, stats) for stats in (best, other))
    if right is not None and also is not None:
        lost, gained = int((right & ~also).sum()), int((also & ~right).sum())
        return p_value(lost, gained, int(right.sum()), len(right), keep, 1 - level) <= 1 - level
    return bootstrap_low(task, best, other, keep, level) >= 0


def correct_rows(task: Task, example_stats: np.ndarray) -> np.ndarray | None:
    """(rows,) which are right, if the score is their share; otherwise None."""
    if task.metric == "accuracy":
        return example_stats[:, 0] == example_stats[:, 1]
    return example_stats[:, 0] > 0 if task.metric == "exact" else None


@lru_cache(maxsize=4096)  # steps of a search often have the same counts
def p_value(lost: int, gained: int, right: int, rows: int, keep: float, wrong: float) -> float:
    """An upper bound for the probability of a result as good as this if less than `keep` of the accuracy is kept. `wrong` is the error
    probability in total, of which two parts are spent on intervals."""
    from scipy.stats import binom, norm

    part = INTERVAL_SHARE * wrong
    margin = (1 - keep) * _low(right, rows, part)  # P(lost) - P(gained) above which too much is lost
    seen = float(score(np.array(lost), np.array(gained), rows, margin))
    ends = _low(gained, rows, part / 2), min(_high(gained, rows, part / 2), (1 - margin) / 2)
    most_lost, most_gained = (int(binom.isf(BEYOND, rows, ends[1] + more)) + 1 for more in (margin, 0.0))
    if most_lost * most_gained > MAX_CELLS:  # the statistic is then nearly normal
        return min(1.0, float(norm.cdf(seen)) + 2 * part)
    losses, gains = np.meshgrid(np.arange(most_lost + 1), np.arange(most_gained + 1), indexing="ij")
    as_good = (score(losses, gains, rows, margin) <= seen + 1e-9) & (losses + gains <= rows)
    losses, gains = losses[as_good], gains[as_good]
    ways = _ways(losses, gains, rows)
    found = max(_probability(losses, gains, ways, rows, gain + margin, gain) for gain in np.linspace(*ends, GAINS))
    return min(1.0, found + 2 * part)


def score(lost: np.ndarray, gained: np.ndarray, rows: int, margin: float) -> np.ndarray:
    """How many standard errors the net losses are from the margin, at the likeliest P(gained) for it (Tango 1998)."""
    linear = (2 * rows - lost + gained) * margin - lost - gained
    constant = -gained * margin * (1 - margin)
    gain = (np.sqrt(np.maximum(0.0, linear**2 - 8 * rows * constant)) - linear) / (4 * rows)
    spread = rows * (2 * gain + margin * (1 - margin))
    return np.divide(lost - gained - rows * margin, np.sqrt(spread), out=np.zeros_like(spread), where=spread > 0)


def _ways(lost: np.ndarray, gained: np.ndarray, rows: int) -> np.ndarray:
    """Logarithm of the multinomial coefficient of these counts."""
    from scipy.special import gammaln

    factorials = gammaln(np.arange(rows + 1) + 1)
    return factorials[rows] - factorials[lost] - factorials[gained] - factorials[rows - lost - gained]


def _probability(lost: np.ndarray, gained: np.ndarray, ways: np.ndarray, rows: int, loss: float, gain: float) -> float:
    """The probability of any of these pairs of counts, for given probabilities to lose and to gain a row."""
    rest = rows - lost - gained
    logs = [
        np.where(counts > 0, counts * np.log(max(share, 1e-300)), 0.0)
        for counts, share in ((lost, loss), (gained, gain), (rest, 1 - loss - gain))
    ]
    return float(np.exp(ways + logs[0] + logs[1] + logs[2]).sum())


def _low(count: int, rows: int, wrong: float) -> float:
    """The lower Clopper-Pearson bound: the true share is below it with a probability of at most `wrong`."""
    from scipy.stats import beta

    return float(beta.ppf(wrong, count, rows - count + 1)) if count else 0.0


def _high(count: int, rows: int, wrong: float) -> float:
    return 1 - _low(rows - count, rows, wrong)


def bootstrap_low(task: Task, best: np.ndarray, other: np.ndarray, keep: float, level: float) -> float:
    """The low end of score(other) - keep × score(best) at the level, one-sided."""
    other = with_losses(task, best, other, PSEUDO_LOSSES)
    draws = [_score(task, other[rows]) - keep * _score(task, best[rows]) for rows in bootstrap_rows(len(best), 0)]
    return float(np.quantile(draws, 1 - level))


def with_losses(task: Task, best: np.ndarray, other: np.ndarray, count: int) -> np.ndarray:
    """`other` with `count` random rows lost on which both are at least partly right."""
    lost = task.scorer.all_wrong(other)
    right = np.flatnonzero((task.scorer.all_wrong(best) != best).any(axis=1) & (lost != other).any(axis=1))
    some = numpy_generator(0, "losses").permutation(right)[:count]
    changed = other.copy()
    changed[some] = lost[some]
    return changed


def _score(task: Task, example_stats: np.ndarray) -> float:
    return task.scorer.scores(example_stats)[task.metric]
