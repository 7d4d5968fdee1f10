"""Minimum description length of labels given states, by online coding (Voita and Titov 2020, arXiv 2003.12298).

The labels are sent block by block. A classifier that was fitted on all blocks before encodes the next one: each label takes the negative
logarithm of its probability. The first block is sent with a uniform code, and after n labels the classifier counts n times as much as
the uniform code, because it knows nothing of labels that it has not seen. Easy labels take few bits, and labels that can be learnt from
few examples take fewer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

SHARES = (
    0.001,
    0.002,
    0.004,
    0.008,
    0.016,
    0.032,
    0.0625,
    0.125,
    0.25,
    0.5,
    1.0,
)  # of the rows, at the end of each block
Fit = Callable[
    [np.ndarray], Callable[[np.ndarray], np.ndarray]
]  # rows to fit on → rows to log-probabilities (rows, labels), natural


@dataclass(frozen=True)
class DescriptionLength:
    bits: float
    uniform: float  # bits with a uniform code

    @property
    def compression(self) -> float:
        """How many times shorter than with a uniform code."""
        return self.uniform / self.bits if self.bits else float("inf")


def online_code(labels: np.ndarray, count: int, fit: Fit, shares: Sequence[float] = SHARES) -> DescriptionLength:
    """Labels (rows,) from 0 to count - 1, in the order in which they are sent."""
    uniform = len(labels) * np.log2(max(count, 2))
    ends = sorted({max(1, round(share * len(labels))) for share in shares} | {len(labels)})
    bits = ends[0] * np.log2(max(count, 2))
    for start, end in pairwise(ends):
        logs = fit(np.arange(start))(np.arange(start, end))
        chosen = np.exp(logs[np.arange(end - start), labels[start:end]])
        bits -= np.log2((start * chosen + 1 / max(count, 2)) / (start + 1)).sum()
    return DescriptionLength(float(bits), float(uniform))
