"""Differences between two models on the same test rows, with intervals and in words."""

from collections.abc import Iterable

from niwaki.core.json_types import Json
from niwaki.report import formatting
from niwaki.report.run_files import mappings, number

NOT_SHOWN = "no difference shown"
Facts = Json


def comparisons(record: Facts, metric: str | None, names: Iterable[str]) -> list[Facts]:
    """The pairs of comparisons.json whose two names are known; none if they are of another metric."""
    known = set(names)
    if record.get("metric", metric) != metric:
        return []
    pairs = [(str(pair.get("a")), str(pair.get("b")), pair) for pair in mappings(record.get("pairs"))]
    found = [{"a": a, "b": b, **gap(metric, pair)} for a, b, pair in pairs if {a, b} <= known]
    return [pair for pair in found if pair["difference"] is not None]


def gap(metric: str | None, pair: Facts) -> Facts:
    """A difference with its 95 % interval, whether it is shown, and in words.

    The interval decides whether it is shown, not the file. An interval that does not contain the difference is ignored, and `shown`
    is null without an interval.
    """
    value, low, high = (number(pair.get(key)) for key in ("difference", "low", "high"))
    if value is None or low is None or high is None or not low <= value <= high:
        words = formatting.UNKNOWN if value is None else formatting.difference(metric, value)
        return {"difference": value, "low": None, "high": None, "shown": None, "words": words}
    words = _words(metric, value, low, high)
    return {"difference": value, "low": low, "high": high, "shown": not low <= 0 <= high, "words": words}


def _words(metric: str | None, value: float, low: float, high: float) -> str:
    if low > 0:
        return f"a gain of {formatting.difference(metric, value, low, high, sign='-')} is shown"
    if high < 0:
        return f"a loss of {formatting.difference(metric, -value, -high, -low, sign='-')} is shown"
    return f"{formatting.difference(metric, value, low, high)}: {NOT_SHOWN}"


def find_comparison(facts: Facts, a: str, b: str) -> Facts | None:
    """The comparison of a with b; None if they were not compared, or without an interval."""
    found = (pair for pair in facts["comparisons"] if (pair["a"], pair["b"]) == (a, b) and pair["shown"] is not None)
    return next(found, None)


def retention_range(facts: Facts, stage: Facts, best: Facts) -> str:
    """The range of the share of the best score that a stage keeps: from the paired comparison on the same test rows, or from the
    stage's own interval, which is wider."""
    pair = find_comparison(facts, stage["name"], best["name"])
    if pair:
        low, high = (best["score"] + pair[end] for end in ("low", "high"))
    else:
        low, high = stage["score_low"], stage["score_high"]
    return "" if low is None or high is None else f"{100 * low / best['score']:.1f}–{100 * high / best['score']:.1f} %"
