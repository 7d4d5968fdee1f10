"""Activations in 8 bits, as the engine has them, worked out in torch: whole numbers 0 … 255 of a step, one of them the zero."""

import torch
from torch import Tensor

SMALLEST_STEP = 1e-12


def straight(value: Tensor, seen: Tensor) -> Tensor:
    """`seen`, to the bit, with the gradient of `value`."""
    return seen + (value - value.detach())


def range_of(low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """Step and zero that reach from `low` to `high`, and over 0."""
    low, high = low.clamp(max=0), high.clamp(min=0)
    step = ((high - low) / 255).clamp(min=SMALLEST_STEP)
    return step, torch.round(-low / step).clamp(0, 255)


def stepped(x: Tensor, step: Tensor, zero: Tensor) -> Tensor:
    """The nearest numbers that there are; what lies beyond the range ends at it."""
    return (torch.clamp(torch.round(x / step) + zero, 0, 255) - zero) * step


def in_eight_bits(x: Tensor) -> Tensor:
    """As the engine rounds the inputs of a packed matrix at run time; gradients pass."""
    to_dense = x.detach().float()
    return straight(x, stepped(to_dense, *range_of(to_dense.min(), to_dense.max())).to(x.dtype))
