"""What each group of rows loses, with paired intervals, corrected for the number of groups, and limits for continuous integration."""

from collections.abc import Sequence
from math import ceil

import numpy as np

from niwaki.core.json_types import Json
from niwaki.evaluate.changes.groups import Group
from niwaki.evaluate.changes.paired import holm, mean_loss

LEVEL = 0.05
POINTS = 5.0  # a loss of so many points should be visible in a group; smaller groups are called too small
LEAST_NET_ROWS = 5  # as many rows lost and none gained have a one-sided p-value of 1/32, four have 1/16


def group_changes(
    groups: Sequence[Group], before: np.ndarray, after: np.ndarray, changed: np.ndarray, seed: int
) -> list[Json]:
    """One row for each group, the greatest loss first. `before` and `after` are credits (rows,), `changed` (rows,) predictions."""
    found = [_change(group, before, after, changed, seed) for group in groups]
    for row, p in zip(found, holm([row["p"] for row in found]), strict=True):
        row["p_corrected"] = float(p)
        row["verdict"] = verdict(row)
    return sorted(found, key=lambda row: (-row["loss"], row["kind"], row["name"]))


def _change(group: Group, before: np.ndarray, after: np.ndarray, changed: np.ndarray, seed: int) -> Json:
    lost = before[group.rows] - after[group.rows]
    return {
        "kind": group.kind,
        "name": group.name,
        "rows": int(group.rows.sum()),
        "changed": float(changed[group.rows].mean()),
        "net_rows_lost": int((lost > 0).sum() - (lost < 0).sum()),
        **mean_loss(before[group.rows], after[group.rows], seed),
    }


def verdict(row: Json) -> str:
    """What the rows of a group show: loss, gain, no difference, or too few rows to show a loss of 5 points even if no row gained."""
    if row["p_corrected"] <= LEVEL:
        return "loss" if row["loss"] > 0 else "gain"
    return "too few rows" if row["rows"] < least_rows(POINTS) else "no difference shown"


def least_rows(points: float) -> int:
    """Rows in which a loss of so many points is at least LEAST_NET_ROWS rows."""
    return ceil(LEAST_NET_ROWS / (points / 100))


def exceeds(row: Json, points: float) -> bool:
    """Whether a group loses more than the limit. The point estimate decides, if at least five rows net got worse: an interval would
    let a group pass because it is small."""
    return 100 * row["loss"] > points and row["net_rows_lost"] >= LEAST_NET_ROWS
