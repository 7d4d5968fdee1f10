"""Rows with the same inputs and different labels: not all of these labels can be right."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from niwaki.data.digests import by_range
from niwaki.data.overlap import keys


def contradictory_groups(rows: pa.Table, columns: Sequence[str], label: str) -> list[list[int]]:
    """Numbers of rows with the same cells in `columns`, for each group with more than one label, in the order of the table."""
    inputs, found = keys(rows, columns), []
    for numbers in by_range(inputs):
        repeated, starts = _repeated(numbers, inputs[numbers])
        labels = [_key(one) for one in rows.column(label).take(pa.array(repeated)).to_pylist()]
        for start, end in pairwise([*starts.tolist(), len(repeated)]):
            if len(set(labels[start:end])) > 1:
                found.append(repeated[start:end].tolist())
    return sorted(found)


def _repeated(numbers: np.ndarray, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers whose inputs occur more than once, equal ones together, and where each group starts."""
    order = np.argsort(inputs, kind="stable")
    as_before = np.diff(inputs[order], prepend=~inputs[order[:1]]) == 0
    as_after = np.append(as_before[1:], False)
    return numbers[order][as_before | as_after], np.flatnonzero(~as_before[as_before | as_after])


def _key(label: object) -> object:
    """A list of labels counts as a set."""
    return frozenset(label) if isinstance(label, list) else label
