"""Scores as facts: cleaned, over one seed or several, of the test set or of a further one."""

from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Any

from niwaki.core.json_types import Json
from niwaki.report.formatting import SHARES
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


def over_test_sets(parts: Mapping[str, Facts]) -> Facts | None:
    """Mean and worst score over the further test sets, such as one for each language; None for fewer than two with the same metric."""
    scores = {name: part["score"] for name, part in parts.items()}
    if len(scores) < 2 or None in scores.values() or len({part["metric"] for part in parts.values()}) > 1:
        return None
    worst = min(scores, key=lambda name: scores[name])
    return {"count": len(scores), "mean": fmean(scores.values()), "worst": worst, "worst_score": scores[worst]}


def subset_names(stages: list[Facts], metric: str | None) -> list[str]:
    """Subsets of the test rows with a score of their own: `f1_nouns` is the score of nouns where the metric is `f1`. `f1_macro` is
    another metric of all rows."""
    rows = [row for stage in stages for row in (stage, *stage["parts"].values())]
    names = dict.fromkeys(name for row in rows for name in row["scores"] if name not in SHARES)
    return [name.removeprefix(f"{metric}_") for name in names if metric and name.startswith(f"{metric}_")]


def subset_scores(row: Facts, metric: str | None, names: list[str]) -> list[Facts | None]:
    """The scores of these subsets as those of a stage; None for a subset that the rows do not have."""
    found = [row["scores"].get(f"{metric}_{name}") for name in names]
    return [one and {fact: one[key] for fact, key in ENDS.items()} for one in found]


def _mean(values: Any) -> float | None:
    found = list(values)
    return None if not found or None in found else fmean(found)


def _spread(known: dict[Any, Facts]) -> Facts | None:
    """The standard deviation is that of a sample; one seed has none."""
    values = [one["score"] for one in known.values()]
    sd = stdev(values) if len(values) > 1 else None
    return {"seeds": list(known), "values": values, "mean": fmean(values), "sd": sd} if values else None
