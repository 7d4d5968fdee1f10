"""Two kinds of work side by side: interleaved pairs, trimmed means, and Student's interval of them.

On a shared machine the CPU seconds of the same work vary by a factor of 1.7. Two jobs run one straight after the other
meet the same disturbance, so their ratio and their difference are steadier than either figure alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev

from niwaki.core.errors import UsageError
from niwaki.meter.window import meter

LEVEL = 0.98  # nominal: pairs are not quite independent on a loaded machine. How often it holds: docs/measuring.md
TRIM = 0.2  # of the pairs, at either end: one mad pair in five does no harm
MIN_PAIRS = 6
MIN_SECONDS = 0.05  # of a sample: on a loaded machine the ratio of 3 ms jobs came out 4 % low
SYSTEMATIC = 0.002  # of a sample: what no number of pairs averages out, docs/measuring.md


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
    first: Callable[[], object], second: Callable[[], object], pairs: int, least_seconds: float = MIN_SECONDS
) -> tuple[list[float], list[float]]:
    """CPU seconds per call of both, measured in turns, in samples of about the same length."""
    jobs = (first, second)
    once = [max(1e-6, min(sample(job, 1), sample(job, 1))) for job in jobs]  # the first call of each warms it up
    calls = [math.ceil(max(least_seconds, *once) / seconds) for seconds in once]
    times: tuple[list[float], list[float]] = ([], [])
    for pair in range(pairs):
        for which in round_order(pair, pairs, 2):
            times[which].append(sample(jobs[which], calls[which]))
    return times


def round_order(number: int, rounds: int, jobs: int) -> range:
    """In which order the jobs go in one of several rounds.

    It is turned round once, at half, so that drift cancels. Turning it at every round would put two samples of one job
    side by side, and a disturbance of 0.1 s would fall on that job alone, in two rounds.
    """
    return range(jobs) if number < rounds / 2 else range(jobs - 1, -1, -1)


def sample(job: Callable[[], object], calls: int) -> float:
    """CPU seconds per call, of `calls` calls in one window."""
    with meter() as window:
        for _ in range(calls):
            job()
    return window.reading.cpu_seconds / calls


def ratio(before: Sequence[float], after: Sequence[float]) -> Interval:
    """How many times `after` fits into `before`: worked out in logarithms, where neither job is favoured."""
    _check(before, after)
    if min(*before, *after) <= 0:
        raise UsageError("before, after: a sample of 0 or less has no ratio; measure a longer piece of work")
    found = interval([math.log(one / other) for one, other in zip(before, after, strict=True)])
    value, low, high = (math.exp(part) for part in (found.value, found.low, found.high))
    return Interval(value, low * (1 - SYSTEMATIC), high * (1 + SYSTEMATIC))


def difference(before: Sequence[float], after: Sequence[float]) -> Interval:
    """How much less `after` is than `before`."""
    _check(before, after)
    found = interval([one - other for one, other in zip(before, after, strict=True)])
    doubt = SYSTEMATIC * max(abs(trimmed_mean(before)), abs(trimmed_mean(after)))
    return Interval(found.value, found.low - doubt, found.high + doubt)


def interval(values: Sequence[float]) -> Interval:
    """The trimmed mean and Student's interval of it, by the winsorised deviation (Tukey and McLaughlin 1963)."""
    count, cut = len(values), int(len(values) * TRIM)
    if count < 2:
        raise UsageError(f"an interval needs two values or more, and here is {count}; measure again")
    ordered, middle = sorted(values), trimmed_mean(values)
    winsorised = [min(max(value, ordered[cut]), ordered[-1 - cut]) for value in values]
    error = stdev(winsorised) / ((1 - 2 * cut / count) * math.sqrt(count))
    doubt = student_quantile(count - 2 * cut - 1) * error
    return Interval(middle, middle - doubt, middle + doubt)


def trimmed_mean(values: Sequence[float]) -> float:
    cut = int(len(values) * TRIM)
    return fmean(sorted(values)[cut : len(values) - cut])


@cache
def student_quantile(freedom: int) -> float:
    """How many standard errors either side hold LEVEL of Student's distribution, by bisection."""
    low, high = 0.0, 1e3
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if student_probability(middle, freedom) < LEVEL else (low, middle)
    return high


def student_probability(errors: float, freedom: int) -> float:
    """The part of Student's distribution between -errors and +errors: a finite sum for whole degrees of freedom."""
    angle = math.atan(errors / math.sqrt(freedom))
    odd = freedom % 2
    term, total = (math.cos(angle), 0.0) if odd else (1.0, 0.0)
    for step in range(odd, freedom - 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (step + 1) / (step + 2)
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def _check(before: Sequence[float], after: Sequence[float]) -> None:
    if len(before) != len(after):
        raise UsageError(f"before has {len(before)} samples and after {len(after)}; measure them in pairs, in turns")
    if len(before) < MIN_PAIRS:
        raise UsageError(f"{len(before)} pairs are too few for an interval; measure at least {MIN_PAIRS}")
