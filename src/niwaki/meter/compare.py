"""Two kinds of work side by side: interleaved pairs, trimmed means, and an interval by bootstrap.

On a shared machine the CPU seconds of the same work vary by a factor of 1.7. Two jobs run one straight after the other
meet the same disturbance, so their ratio and their difference are steadier than either figure alone.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

from niwaki.core.errors import UsageError
from niwaki.core.seeds import derive
from niwaki.meter.window import meter

LEVEL = 0.98  # nominal. A nominal 95 % held the truth less often on a loaded machine: docs/measuring.md
RESAMPLES = 2000
TRIM = 0.2  # of the pairs, at either end: one mad pair in five does no harm
MIN_PAIRS = 6
LEAST_SECONDS = 0.05  # of a sample: on a loaded machine the ratio of 3 ms jobs came out 4 % low


@dataclass(frozen=True)
class Interval:
    """A figure and its range: at least 95 of 100 such ranges hold the truth (the nominal level is LEVEL)."""

    value: float
    low: float
    high: float

    def times(self, low: float, middle: float, high: float) -> "Interval":
        """Multiplied by a positive figure that has a range of its own."""
        ends = [self.low * low, self.low * high, self.high * low, self.high * high]
        return Interval(self.value * middle, min(ends), max(ends))


def interleave(
    first: Callable[[], object], second: Callable[[], object], pairs: int, least_seconds: float = LEAST_SECONDS
) -> tuple[list[float], list[float]]:
    """CPU seconds per call of both, measured in turns; which goes first alternates, so that drift cancels."""
    jobs = (first, second)
    calls = [max(1, math.ceil(least_seconds / max(sample(job, 1), 1e-6))) for job in jobs]  # also warms both up
    times: tuple[list[float], list[float]] = ([], [])
    for pair in range(pairs):
        for which in (0, 1) if pair % 2 == 0 else (1, 0):
            times[which].append(sample(jobs[which], calls[which]))
    return times


def sample(job: Callable[[], object], calls: int) -> float:
    """CPU seconds per call, of `calls` calls in one window."""
    with meter() as window:
        for _ in range(calls):
            job()
    return window.reading.cpu_seconds / calls


def ratio(before: Sequence[float], after: Sequence[float], seed: int = 0) -> Interval:
    """How many times `after` fits into `before`."""
    _check(before, after)
    if min(after) <= 0:
        raise UsageError("after: a sample of 0 or less has no ratio; measure a longer piece of work")
    return interval([one / other for one, other in zip(before, after, strict=True)], seed)


def difference(before: Sequence[float], after: Sequence[float], seed: int = 0) -> Interval:
    """How much less `after` is than `before`."""
    _check(before, after)
    return interval([one - other for one, other in zip(before, after, strict=True)], seed)


def interval(values: Sequence[float], seed: int = 0) -> Interval:
    """The trimmed mean and its percentile-bootstrap interval; the same values always give the same interval."""
    draw = random.Random(derive(seed, "bootstrap", len(values)))
    means = sorted(trimmed_mean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    tail = round(RESAMPLES * tail_of(len(values)))
    return Interval(trimmed_mean(values), means[tail], means[-1 - tail])


def trimmed_mean(values: Sequence[float]) -> float:
    cut = int(len(values) * TRIM)
    return fmean(sorted(values)[cut : len(values) - cut])


def tail_of(count: int) -> float:
    """What to cut off at either end: less than (1 - LEVEL) / 2, because a bootstrap of few values is too narrow.

    The "expanded percentile" of Hesterberg 2015 (arXiv 1411.5279); Student's quantile by its Cornish-Fisher series.
    """
    normal, freedom = NormalDist(), count - 1
    z = normal.inv_cdf((1 + LEVEL) / 2)
    student = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return normal.cdf(-math.sqrt(count / freedom) * student)


def _check(before: Sequence[float], after: Sequence[float]) -> None:
    if len(before) != len(after):
        raise UsageError(f"before has {len(before)} samples and after {len(after)}; measure them in pairs, in turns")
    if len(before) < MIN_PAIRS:
        raise UsageError(f"{len(before)} pairs are too few for an interval; measure at least {MIN_PAIRS}")
