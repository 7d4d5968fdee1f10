"""A product with packed weights of which training keeps no copy as floats.

torch would save the unpacked matrix of every layer until the backward pass: with a frozen trunk of a few bits that is most of the memory of
a step. Here the backward pass unpacks it again.
"""

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

Unpacked = Callable[[], Tensor]  # the weight (out, in) as floats


class Context(Protocol):
    """What torch hands to both passes."""

    unpacked: Unpacked
    needs_input_grad: tuple[bool, ...]


def product(x: Tensor, bias: Tensor | None, unpacked: Unpacked) -> Tensor:
    """Inputs (…, in) times the weight, plus bias (out). The weight gets no gradient."""
    if torch.is_grad_enabled() and (x.requires_grad or (bias is not None and bias.requires_grad)):
        return _Product.apply(x, bias, unpacked)
    return multiplied(x, bias, unpacked)


def multiplied(x: Tensor, bias: Tensor | None, unpacked: Unpacked) -> Tensor:
    return functional.linear(x, unpacked().to(x.dtype), None if bias is None else bias.to(x.dtype))


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Context, x: Tensor, bias: Tensor | None, unpacked: Unpacked) -> Tensor:
        ctx.unpacked = unpacked
        return multiplied(x, bias, unpacked)

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        of_x, of_bias, _ = ctx.needs_input_grad
        rows = gradient @ ctx.unpacked().to(gradient.dtype) if of_x else None
        return rows, gradient.reshape(-1, gradient.shape[-1]).sum(dim=0) if of_bias else None, None
