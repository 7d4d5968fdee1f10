"""Muon: matrices move along their orthogonalized momentum, all other parameters as AdamW moves them.

The update of a matrix has the directions of its momentum, all with about the same length. It is scaled to the size of AdamW's updates, so
that both share learning rate and weight decay.

Papers: Jordan et al. 2024, Muon (kellerjordan.github.io/posts/muon); Liu et al. 2025, Muon is Scalable for LLM Training (arXiv 2502.16982).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from niwaki.core.json_types import Json

MOMENTUM, STEPS = 0.95, 5
COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of the polynomial that draws singular values towards 1
ADAMW_SIZE = 0.2  # the root mean square of AdamW's updates


class Muon(torch.optim.AdamW):
    """Groups with `orthogonal` hold matrices; `dtype` is what they are multiplied in."""

    def __init__(self, groups: list[Json], lr: float, dtype: torch.dtype) -> None:
        super().__init__(groups, lr=lr, fused=True)
        self.dtype = dtype

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        assert closure is None
        for group in self.param_groups:
            for matrix in group["params"] if group["orthogonal"] else ():
                if matrix.grad is not None:
                    self._move(matrix, matrix.grad, group)
                    matrix.grad = None  # so that AdamW leaves it alone
        return super().step()

    def _move(self, matrix: Tensor, gradient: Tensor, group: Json) -> None:
        state = self.state[matrix]
        if not state:
            state |= {"step": torch.zeros(()), "momentum": torch.zeros_like(matrix)}
        scale = getattr(self, "grad_scale", None)  # of clipping
        gradient = gradient if scale is None else gradient / scale
        state["step"] += 1
        momentum = state["momentum"].lerp_(gradient, 1 - MOMENTUM)
        update = orthogonalized(gradient.lerp(momentum, MOMENTUM).to(self.dtype))
        matrix.mul_(1 - group["lr"] * group["weight_decay"])
        matrix.add_(update, alpha=-group["lr"] * ADAMW_SIZE * max(matrix.shape) ** 0.5)


def orthogonalized(matrix: Tensor) -> Tensor:
    """A matrix (rows, columns) with its singular values drawn to about 1, by Newton and Schulz's iteration."""
    a, b, c = COEFFICIENTS
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix
    x = x / (x.norm() + 1e-7)
    for _ in range(STEPS):
        square = x @ x.T  # (smaller side, smaller side)
        x = a * x + (b * square + c * square @ square) @ x
    return x.T if tall else x
