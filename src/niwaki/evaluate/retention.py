"""Whether a share of a better model's score is kept, shown on rows that both have answered.

Accuracy and exact match, the share of rows that are right: an exact test. Of n rows `lost` are right by the better model alone and
`gained` by the other alone; more than the share is lost where P(lost) - P(gained) is over (1 - keep) × accuracy. How likely a score
as good as the one seen is then depends on P(gained), which is not known: the worst case over an interval of it is taken, and the
chance to miss the interval added (Berger and Boos 1994). The accuracy is taken at the low end of an interval of its own in the same way.

Any other score: the paired bootstrap, with two rows more counted as lost. Rows that never disagreed have no spread, and a bootstrap
of them would be sure of what twenty rows cannot show.
"""

from functools import lru_cache

import numpy as np

from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.quality import bootstrap_rows
from niwaki.tasks._task import Task

INTERVAL_SHARE = 0.1  # of what may go wrong, the part that is spent on each of the two intervals
GAINS = 25  # points of the interval that are tried
BEYOND = 1e-12  # counts so unlikely are not looked at
MAX_CELLS = 250_000  # pairs of counts that are
PSEUDO_LOSSES = 2


def is_score_kept(task: Task, best: np.ndarray, other: np.ndarray, keep: float, level: float) -> bool:
    """Whether it is shown that `other` has at least `keep` times the score of `best`; both are outcomes of the same rows."""
    if keep >= 1 and np.array_equal(best, other):
        return True
    right, also = (correct_rows(task, one) for one in (best, other))
    if right is not None and also is not None:
        lost, gained = int((right & ~also).sum()), int((also & ~right).sum())
        return p_value(lost, gained, int(right.sum()), len(right), keep, 1 - level) <= 1 - level
    return bootstrap_low(task, best, other, keep, level) >= 0


def correct_rows(task: Task, example_stats: np.ndarray) -> np.ndarray | None:
    """(rows,) which are right, where the score is the share of these; else None."""
    if task.metric == "accuracy":
        return example_stats[:, 0] == example_stats[:, 1]
    return example_stats[:, 0] > 0 if task.metric == "exact" else None


@lru_cache(maxsize=4096)  # steps of a search often have the same counts
def p_value(lost: int, gained: int, right: int, rows: int, keep: float, wrong: float) -> float:
    """At most so likely is a result as good as this where less than `keep` of the accuracy is kept. `wrong` is what may go wrong in
    all, of which two parts are spent on intervals."""
    from scipy.stats import binom, norm

    part = INTERVAL_SHARE * wrong
    margin = (1 - keep) * _low(right, rows, part)  # P(lost) - P(gained) beyond which too much is lost
    seen = float(score(np.array(lost), np.array(gained), rows, margin))
    ends = _low(gained, rows, part / 2), min(_high(gained, rows, part / 2), (1 - margin) / 2)
    most_lost, most_gained = (int(binom.isf(BEYOND, rows, ends[1] + more)) + 1 for more in (margin, 0.0))
    if most_lost * most_gained > MAX_CELLS:  # so many that the statistic is normal
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
    """Logarithm of how many choices of rows have these counts."""
    from scipy.special import gammaln

    factorials = gammaln(np.arange(rows + 1) + 1)
    return factorials[rows] - factorials[lost] - factorials[gained] - factorials[rows - lost - gained]


def _probability(lost: np.ndarray, gained: np.ndarray, ways: np.ndarray, rows: int, loss: float, gain: float) -> float:
    """Of any of these pairs of counts, where a row is lost and gained with the chances given."""
    rest = rows - lost - gained
    logs = [
        np.where(counts > 0, counts * np.log(max(share, 1e-300)), 0.0)
        for counts, share in ((lost, loss), (gained, gain), (rest, 1 - loss - gain))
    ]
    return float(np.exp(ways + logs[0] + logs[1] + logs[2]).sum())


def _low(count: int, rows: int, wrong: float) -> float:
    """Clopper and Pearson's lower end: the true share is below it with a chance of at most `wrong`."""
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
    """So many rows of which both have something right, drawn by chance, are lost in `other`."""
    lost = task.scorer.all_wrong(other)
    right = np.flatnonzero((task.scorer.all_wrong(best) != best).any(axis=1) & (lost != other).any(axis=1))
    some = numpy_generator(0, "losses").permutation(right)[:count]
    changed = other.copy()
    changed[some] = lost[some]
    return changed


def _score(task: Task, example_stats: np.ndarray) -> float:
    return task.scorer.scores(example_stats)[task.metric]
