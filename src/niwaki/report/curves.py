"""Training curves, thinned to what a page can show: the loss in bins, every validation score."""

from typing import Any

from niwaki.report.run_files import number

POINTS = 160  # more than the width of the plot can tell apart


def curve(lines: list[dict[str, Any]]) -> dict[str, list[list[float]]]:
    """{"loss": [[step, loss] …], "validation": [[step, score] …]} from the lines of train.jsonl."""
    return {"loss": thin(_pairs(lines, "step", "loss")), "validation": thin(_pairs(lines, "validation", "score"))}


def _pairs(lines: list[dict[str, Any]], kind: str, value: str) -> list[list[float]]:
    """Sorted by step; a step said twice (a run resumed before its last save) counts with what was said last."""
    by_step: dict[float, float] = {}
    for line in lines:
        step, amount = number(line.get("step")), number(line.get(value))
        if line.get("kind") == kind and step is not None and amount is not None:
            by_step[step] = amount
    return [[step, by_step[step]] for step in sorted(by_step)]


def thin(pairs: list[list[float]], points: int = POINTS) -> list[list[float]]:
    """At most `points` pairs: the mean of equal runs of neighbours."""
    size = -(-len(pairs) // points)
    if size <= 1:
        return pairs
    bins = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    return [[sum(pair[axis] for pair in group) / len(group) for axis in (0, 1)] for group in bins]
