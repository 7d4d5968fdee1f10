"""Scales from data to the page, and the round numbers to mark on them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

STEPS = (1, 2, 2.5, 5, 10)


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

    def ticks(self) -> list[float]:
        marks = _log_ticks(self.low, self.high) if self.log else _ticks(self.low, self.high)
        return [mark for mark in marks if self.low <= mark <= self.high]


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


def _ticks(low: float, high: float, about: int = 5) -> list[float]:
    rough = (high - low) / about
    unit = 10 ** math.floor(math.log10(rough))
    step = next(factor * unit for factor in STEPS if factor * unit >= rough)
    first = math.ceil(low / step)
    return [round(index * step, 12) for index in range(first, math.floor(high / step) + 1)]


def _log_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """The finest of 1-2-5, 1-3 and 1 per decade, or of every second, third … decade, with at most `most` marks."""
    for marks in _log_choices(low, high):
        inside = [mark for mark in marks if low <= mark <= high]
        if len(inside) <= most:
            return inside
    return []


def _log_choices(low: float, high: float) -> Iterator[list[float]]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if high / low < 4:
        yield _ticks(low, high)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        yield [factor * 10.0**decade for decade in range(first, last + 1) for factor in factors]
    for step in range(2, last - first + 2):
        yield [10.0**decade for decade in range(first, last + 1, step)]
