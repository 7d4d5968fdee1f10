"""Scores as facts: cleaned, over one seed or several, of the test set or of a further one."""

from statistics import fmean, stdev
from typing import Any

from niwaki.core.json_types import Json
from niwaki.report.run_files import mapping, number

ENDS = {"score": "value", "score_low": "low", "score_high": "high"}  # key of a fact → key in the file
Facts = Json


def quality(score: object) -> Facts:
    """One score as a file tells it: value, interval, rows, and all metrics."""
    given = mapping(score)
    every = {name: mapping(one) for name, one in mapping(given.get("all")).items()}
    return {
        **{fact: number(given.get(key)) for fact, key in ENDS.items()},
        "score_rows": number(given.get("rows")),
        "scores": {name: {key: number(one.get(key)) for key in ENDS.values()} for name, one in every.items()},
    }


def over_seeds(scores: dict[Any, Any]) -> Facts:
    """The quality over all seeds, first seed first, and under `seeds` what each one gave.

    Score and interval are means over the seeds. The mean of the intervals is no narrower than the interval of the mean
    would be: it tells what the number of test rows leaves open, and `sd` what the seed does. `scores` are the first's.
    """
    each = {seed: quality(score) for seed, score in scores.items()}
    known = {seed: one for seed, one in each.items() if one["score"] is not None}
    own = next(iter(each.values()), quality(None))
    return {**own, **{fact: _mean(one[fact] for one in known.values()) for fact in ENDS}, "seeds": _spread(known)}


def _mean(values: Any) -> float | None:
    found = list(values)
    return None if not found or None in found else fmean(found)


def _spread(known: dict[Any, Facts]) -> Facts | None:
    """The standard deviation is that of a sample; one seed has none."""
    values = [one["score"] for one in known.values()]
    sd = stdev(values) if len(values) > 1 else None
    return {"seeds": list(known), "values": values, "mean": fmean(values), "sd": sd} if values else None
