"""Sums of squared differences between activations, with few passes over memory."""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from niwaki.models.fused.library import Context


def squared_error(a: Tensor, b: Tensor, real: Tensor | None = None) -> Tensor:
    """Sum of (a - b)² in fp32 where `real`, which is broadcast, is 1 and not 0."""
    return _SquaredError.apply(a, b, real)


class _SquaredError(torch.autograd.Function):
    """Saves the masked difference, so that the backward pass is one product."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, b: Tensor, real: Tensor | None) -> Tensor:
        difference = a.float() - b.float()
        if real is not None:
            difference.mul_(real)
        ctx.save_for_backward(difference)
        return difference.flatten().dot(difference.flatten())

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor, Tensor | None, None]:
        whole = ctx.saved_tensors[0] * (2 * gradient)  # torch casts it to the types of a and b
        return whole, -whole if ctx.needs_input_grad[1] else None, None
