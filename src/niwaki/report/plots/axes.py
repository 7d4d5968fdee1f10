"""Scales from data to the page, and their round tick values."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from niwaki.report.plots.extents import text_width

STEPS = (1, 2, 2.5, 5, 10)
MAX_TICKS = 7  # ticks on an axis
GAP = 6.0  # between the labels of two ticks
Fits = Callable[[list[float]], bool]


@dataclass(frozen=True)
class Scale:
    """Maps low…high onto start…end, in equal steps or, with `log`, in equal factors."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def ticks(self, fits: Fits = lambda ticks: True) -> list[float]:
        """The most ticks whose labels fit next to each other; none if not even one does."""
        for choice in _log_choices(self.low, self.high) if self.log else _choices(self.low, self.high):
            inside = [tick for tick in choice if self.low <= tick <= self.high]
            if inside and len(inside) <= MAX_TICKS and fits(inside):
                return inside
        return []


def around(values: list[float], start: float, end: float, margin: float = 0.08, least: float = 1e-9) -> Scale:
    """A linear scale that holds all values with room at both ends."""
    low, high = min(values), max(values)
    room = max((high - low) * margin, least)
    return Scale(low - room, high + room, start, end)


def around_log(values: list[float], start: float, end: float, margin: float = 0.12) -> Scale:
    """A log scale that holds all (positive) values with room at both ends, and at least a factor of 2 in all."""
    low, high = math.log10(min(values)), math.log10(max(values))
    room = max((high - low) * margin, (math.log10(2) - (high - low)) / 2, 0.02)
    return Scale(10 ** (low - room), 10 ** (high + room), start, end, log=True)


def _choices(low: float, high: float) -> Iterator[list[float]]:
    for about in (5, 4, 3, 2, 1):
        yield _ticks(low, high, about)


def _ticks(low: float, high: float, about: int = 5) -> list[float]:
    rough = (high - low) / about
    unit = 10 ** math.floor(math.log10(rough))
    step = next(factor * unit for factor in STEPS if factor * unit >= rough)
    first = math.ceil(low / step)
    return [round(index * step, 12) for index in range(first, math.floor(high / step) + 1)]


def _log_choices(low: float, high: float) -> Iterator[list[float]]:
    """Equal steps on a short axis; 1-2-5, 1-3 and 1 per decade, and every second, third … decade on a longer one."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if high / low < 4:
        yield from _choices(low, high)
    for factors in ((1, 2, 5), (1, 3), (1,), (2,), (5,)):
        yield [factor * 10.0**decade for decade in range(first, last + 1) for factor in factors]
    for step in range(2, last - first + 2):
        yield [10.0**decade for decade in range(first, last + 1, step)]


def side_by_side(scale: Scale, write: Callable[[float], str], size: float, most: float) -> Fits:
    """Whether the labels of ticks on a horizontal axis, each centred below its tick, are apart and end before `most`."""

    def fits(ticks: list[float]) -> bool:
        ends = [(scale(tick), text_width(write(tick), size) / 2) for tick in ticks]
        apart = all(x + half + GAP <= after - wide for (x, half), (after, wide) in pairwise(ends))
        return apart and all(x + half <= most for x, half in ends)

    return fits
