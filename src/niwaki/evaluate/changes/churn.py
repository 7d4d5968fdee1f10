"""Churn: the share of rows whose prediction changed, and whether the changes help.

Paper: Milani Fard et al. 2016, Launch and Iterate. Cost: none beyond the predictions.
"""

from collections.abc import Callable, Sequence

import numpy as np

from niwaki.answers._answer_type import Value
from niwaki.core.json_types import Json

Same = Callable[[Value, Value], bool]
LEVEL = 0.95


def changed_rows(first: Sequence[Value], second: Sequence[Value], same: Same) -> np.ndarray:
    """(rows,) whether the two predictions differ, by the answer type's own rule."""
    return np.array([not same(a, b) for a, b in zip(first, second, strict=True)], dtype=bool)


def churn(changed: np.ndarray, before: np.ndarray, after: np.ndarray) -> Json:
    """Changed rows, split by the credit (rows,) of both models: better, worse, or as wrong (or as right) as before."""
    parts = {
        "changed": changed,
        "fixed": changed & (after > before),
        "broken": changed & (after < before),
        "neither": changed & (after == before),
    }
    return {name: share(int(rows.sum()), len(changed)) for name, rows in parts.items()}


def share(count: int, rows: int) -> Json:
    """A share with its exact 95 % interval (Clopper and Pearson 1934)."""
    from scipy.stats import binomtest

    between = binomtest(count, rows).proportion_ci(LEVEL, method="exact")
    return {
        "count": count,
        "rows": rows,
        "value": count / rows,
        "low": float(between.low),
        "high": float(between.high),
    }
