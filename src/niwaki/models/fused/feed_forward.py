"""A feed-forward block with GELU or its approximation by tanh: the activation is computed while the products' results are in registers."""

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from niwaki.models.fused import linear
from niwaki.models.fused.library import GELU, GELU_TANH, TIMES_SLOPE, Context
from niwaki.models.fused.products import multiply, multiply_back, weight_gradient


def fits(rows: Tensor, first: nn.Linear, activation: nn.Module, second: nn.Linear) -> bool:
    return linear.fits(rows, [first, second]) and _kernel_of(activation) is not None


def _kernel_of(activation: nn.Module) -> int | None:
    """The kernel for GELU or its approximation by tanh, as `torch.nn` or transformers defines them; None for others."""
    name = type(activation).__name__
    if isinstance(activation, nn.GELU):
        return GELU if activation.approximate == "none" else GELU_TANH
    if name == "GELUActivation" and getattr(activation, "act", None) is nn.functional.gelu:
        return GELU
    return GELU_TANH if name in ("NewGELUActivation", "GELUTanh", "PytorchGELUTanh") else None


def feed_forward(rows: Tensor, first: nn.Linear, activation: nn.Module, second: nn.Linear) -> Tensor:
    kernel = _kernel_of(activation)
    return _FeedForward.apply(rows, first.weight, first.bias, second.weight, second.bias, kernel)


class _FeedForward(torch.autograd.Function):
    """GELU and its derivative are computed together in the forward pass, and both are saved."""

    @staticmethod
    def forward(
        ctx: Context, rows: Tensor, w1: Tensor, b1: Tensor | None, w2: Tensor, b2: Tensor | None, kernel: int
    ) -> Tensor:
        inner, slope = rows.new_empty(2, len(rows), len(w1))
        multiply(rows, w1, b1, inner, kernel, slope)
        out = rows.new_empty(len(rows), len(w2))
        multiply(inner, w2, b2, out)
        ctx.save_for_backward(rows, inner, slope, w1, w2)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        rows, inner, slope, w1, w2 = ctx.saved_tensors
        gradient, (needs_rows, *needs) = gradient.contiguous(), ctx.needs_input_grad[:5]
        inner_gradient = torch.empty_like(inner)
        multiply_back(gradient, [w2], inner_gradient, then=TIMES_SLOPE, slope=slope.data_ptr())
        found: list[Tensor | None] = [None] * 4
        if any(needs[2:]):
            found[2:] = weight_gradient(gradient, inner)
        if any(needs[:2]):
            found[:2] = weight_gradient(inner_gradient, rows)
        rows_gradient = torch.empty_like(rows) if needs_rows else None
        if rows_gradient is not None:
            multiply_back(inner_gradient, [w1], rows_gradient)
        return rows_gradient, *(one if need else None for one, need in zip(found, needs, strict=True)), None
