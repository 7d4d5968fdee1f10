"""Two kinds of work side by side: interleaved pairs, medians, and an interval by bootstrap.

On a shared machine the CPU seconds of the same work vary by a factor of 1.7. Two jobs run one straight after the other
meet the same disturbance, so their ratio and their difference are steadier than either figure alone.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from niwaki.core.errors import UsageError
from niwaki.core.seeds import derive
from niwaki.meter.window import meter

LEVEL = 0.95
RESAMPLES = 2000
MIN_PAIRS = 6  # with fewer, a 95 % interval of a median does not exist: 1 - 2 / 2**5 is 94 %


@dataclass(frozen=True)
class Interval:
    """A figure and the range it lies in, in 95 of 100 cases."""

    value: float
    low: float
    high: float

    def times(self, low: float, middle: float, high: float) -> "Interval":
        """Multiplied by a positive figure that has a range of its own."""
        ends = [self.low * low, self.low * high, self.high * low, self.high * high]
        return Interval(self.value * middle, min(ends), max(ends))


def interleave(
    first: Callable[[], object], second: Callable[[], object], pairs: int
) -> tuple[list[float], list[float]]:
    """CPU seconds of both, measured in turns; which goes first alternates, so that drift and warm caches cancel."""
    times: tuple[list[float], list[float]] = ([], [])
    for pair in range(pairs):
        for which in (0, 1) if pair % 2 == 0 else (1, 0):
            with meter() as window:
                (first, second)[which]()
            times[which].append(window.reading.cpu_seconds)
    return times


def ratio(before: Sequence[float], after: Sequence[float], seed: int = 0) -> Interval:
    """How many times `after` fits into `before`."""
    _check(before, after)
    if min(after) <= 0:
        raise UsageError("after: a sample of 0 or less has no ratio; measure a longer piece of work")
    return median_interval([one / other for one, other in zip(before, after, strict=True)], seed)


def difference(before: Sequence[float], after: Sequence[float], seed: int = 0) -> Interval:
    """How much less `after` is than `before`."""
    _check(before, after)
    return median_interval([one - other for one, other in zip(before, after, strict=True)], seed)


def median_interval(values: Sequence[float], seed: int = 0) -> Interval:
    """The median and its percentile-bootstrap interval; the same values always give the same interval."""
    draw = random.Random(derive(seed, "bootstrap", len(values)))
    middles = sorted(median(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    tail = round(RESAMPLES * (1 - LEVEL) / 2)
    return Interval(median(values), middles[tail], middles[-1 - tail])


def _check(before: Sequence[float], after: Sequence[float]) -> None:
    if len(before) != len(after):
        raise UsageError(f"before has {len(before)} samples and after {len(after)}; measure them in pairs, in turns")
    if len(before) < MIN_PAIRS:
        raise UsageError(f"{len(before)} pairs are too few for an interval; measure at least {MIN_PAIRS}")
