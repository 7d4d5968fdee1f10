"""How much each token supports an output: integrated gradients (Sundararajan et al. 2017, arXiv 1703.01365).

The gradients are integrated along the straight line from a baseline to the input, with Gauss-Legendre quadrature. The attributions of all
tokens sum to the difference between the output of the input and that of the baseline ("completeness"), but for the error of the quadrature,
which is returned. The number of steps is doubled until the error is small.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

Function = Callable[[Tensor], Tensor]  # points (steps, …, tokens, size) to outputs (steps,)

FIRST_STEPS, MOST_STEPS = 16, 256
TOLERANCE = 0.01  # of the difference between the two outputs
FEWEST_LOGITS = 0.01  # smaller differences are not worth more steps
AT_ONCE = 4096  # tokens of the points that are computed at once


@dataclass(frozen=True)
class Attributions:
    tokens: Tensor  # (…, tokens)
    difference: float  # the output of the input less that of the baseline
    steps: int

    @property
    def total(self) -> float:
        return float(self.tokens.sum())

    @property
    def error(self) -> float:
        """What the attributions sum to, less the difference."""
        return self.total - self.difference


def integrated_gradients(function: Function, given: Tensor, baseline: Tensor) -> Attributions:
    """Attributions of the tokens of an input (…, tokens, size). The function computes several points at once."""
    with torch.no_grad():
        whole, none = (float(function(point[None])[0]) for point in (given, baseline))
    steps = FIRST_STEPS
    while True:
        gradients = mean_gradients(function, given, baseline, steps)
        tokens = ((given - baseline).double() * gradients).sum(dim=-1)
        found = Attributions(tokens, whole - none, steps)
        if steps >= MOST_STEPS or abs(found.error) <= TOLERANCE * max(abs(found.difference), FEWEST_LOGITS):
            return found
        steps *= 2


def mean_gradients(function: Function, given: Tensor, baseline: Tensor, steps: int) -> Tensor:
    """The gradient averaged over the line from the baseline to the input, in float64."""
    places, weights = np.polynomial.legendre.leggauss(steps)  # from -1 to 1
    total = torch.zeros_like(given, dtype=torch.float64)
    chunk = max(1, AT_ONCE // max(1, given[..., 0].numel()))
    for first in range(0, steps, chunk):
        shares = torch.tensor((places[first : first + chunk] + 1) / 2, dtype=given.dtype)
        factors = torch.tensor(weights[first : first + chunk] / 2, dtype=torch.float64)
        with torch.enable_grad():
            points = torch.stack([baseline + share * (given - baseline) for share in shares]).detach().requires_grad_()
            (gradients,) = torch.autograd.grad(function(points).sum(), points)
        total += torch.tensordot(factors, gradients.double(), dims=1)
    return total


def by_word(tokens: Sequence[float], word_of: Sequence[int], words: int) -> list[float]:
    """Sums over the tokens of each word; tokens of no word (-1) are left out."""
    found = [0.0] * words
    for value, word in zip(tokens, word_of, strict=True):
        if word >= 0:
            found[word] += value
    return found


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's correlation; None for fewer than three values or where all are alike."""
    from scipy.stats import spearmanr

    if len(first) < 3 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return float(spearmanr(first, second).statistic)
