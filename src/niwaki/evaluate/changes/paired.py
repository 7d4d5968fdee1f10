"""The mean credit that rows lose, with a paired interval and a paired test, and the correction for many tests.

Answers that are right or wrong: the score interval of Tango 1998 and McNemar's exact test, which hold for few rows. Other credits:
a bootstrap over the rows and a test that swaps the two models row by row.
"""

from collections.abc import Sequence

import numpy as np

from niwaki.core.json_types import Json
from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.quality import bootstrap_rows, interval
from niwaki.evaluate.retention import score

SWAPS = 2000
NORMAL = 1.959963984540054  # standard errors of a 95 % interval


def mean_loss(before: np.ndarray, after: np.ndarray, seed: int = 0) -> Json:
    """Mean of before − after (rows,): `loss`, the ends of its 95 % interval, and the p-value of no difference."""
    lost = before - after
    if np.isin(lost, (-1, 0, 1)).all():
        down, up = int((lost > 0).sum()), int((lost < 0).sum())
        low, high = tango_interval(down, up, len(lost))
        return {"loss": float(lost.mean()), "low": low, "high": high, "p": mcnemar(down, up)}
    ends = interval([float(lost[rows].mean()) for rows in bootstrap_rows(len(lost), seed)])
    return {"loss": float(lost.mean()), **ends, "p": swap_test(lost, seed)}


def mcnemar(lost: int, gained: int) -> float:
    """The exact two-sided p-value of as many rows lost as gained."""
    from scipy.stats import binomtest

    return float(binomtest(lost, lost + gained).pvalue) if lost + gained else 1.0


def tango_interval(lost: int, gained: int, rows: int) -> tuple[float, float]:
    """The 95 % interval of P(lost) − P(gained). Rows that never disagree still have one: ± z² / (rows + z²)."""
    from scipy.optimize import brentq

    def errors_away(loss: float) -> float:
        """Standard errors between the counts and a loss of this size; it falls as the loss grows."""
        more, fewer = (lost, gained) if loss >= 0 else (gained, lost)
        away = float(score(np.array(float(more)), np.array(float(fewer)), rows, abs(loss)))
        return away if loss >= 0 else -away

    # at a loss of 0 without disagreement the statistic is 0 / 0; brackets start next to the observed loss
    observed, edge = (lost - gained) / rows, 1 - 1e-9
    low = -1.0 if lost - gained <= -rows else brentq(lambda at: errors_away(at) - NORMAL, -edge, observed)
    high = 1.0 if lost - gained >= rows else brentq(lambda at: errors_away(at) + NORMAL, observed, edge)
    return float(low), float(high)


def swap_test(lost: np.ndarray, seed: int = 0) -> float:
    """The p-value of a mean this far from 0 if each row's two credits were swapped at random."""
    generator, observed = numpy_generator(seed, "swaps"), abs(lost.mean()) - 1e-12
    draws = (generator.choice((-1.0, 1.0), len(lost)) @ lost / len(lost) for _ in range(SWAPS))
    return (1 + sum(abs(draw) >= observed for draw in draws)) / (1 + SWAPS)


def holm(p_values: Sequence[float]) -> np.ndarray:
    """P-values corrected for the number of tests: the chance of any false finding among all stays at the level (Holm 1979)."""
    found = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(found, kind="stable")
    corrected = np.empty_like(found)
    corrected[order] = np.maximum.accumulate(found[order] * np.arange(len(found), 0, -1)).clip(max=1)
    return corrected
