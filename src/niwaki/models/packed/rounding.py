"""Activations rounded to 8 bits as in the engine, computed in torch: integers 0 … 255 with a step and a zero point."""

import torch
from torch import Tensor

SMALLEST_STEP = 1e-12


def straight(value: Tensor, seen: Tensor) -> Tensor:
    """`seen`, with the gradient of `value` (straight-through)."""
    return seen + (value - value.detach())


def range_of(low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """Step and zero point of the range from `low` to `high`, extended to include 0."""
    low, high = low.clamp(max=0), high.clamp(min=0)
    step = ((high - low) / 255).clamp(min=SMALLEST_STEP)
    return step, torch.round(-low / step).clamp(0, 255)


def stepped(x: Tensor, step: Tensor, zero: Tensor) -> Tensor:
    """Round to the nearest step; values outside the range are clipped."""
    return (torch.clamp(torch.round(x / step) + zero, 0, 255) - zero) * step


def in_eight_bits(x: Tensor) -> Tensor:
    """Round as the engine rounds the inputs of a packed matrix at run time, with a straight-through gradient."""
    values = x.detach().float()
    return straight(x, stepped(values, *range_of(values.min(), values.max())).to(x.dtype))
