"""Training curves with few enough points for a page: the loss in bins, and the validation scores."""

from niwaki.core.json_types import Json
from niwaki.report.run_files import number

POINTS = 160  # more than the width of the plot can show


def curve(lines: list[Json]) -> dict[str, list[list[float]]]:
    """{"loss": [[step, loss] …], "validation": [[step, score] …]} from the lines of train.jsonl."""
    return {"loss": thin(_pairs(lines, "step", "loss")), "validation": thin(_pairs(lines, "validation", "score"))}


def _pairs(lines: list[Json], kind: str, value: str) -> list[list[float]]:
    """Sorted by step. The last value counts if a step occurs twice (a run that was resumed before its last save)."""
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
