"""Gradients are clipped while the optimizer reads them: no pass over all of them just to scale them."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn


def clip_in(optimizer: torch.optim.Optimizer, parameters: Iterable[nn.Parameter], limit: float) -> Tensor:
    """Tells a fused optimizer to scale gradients that are together longer than `limit` to that length in its next step.
    Gives their length."""
    gradients = [one.grad for one in parameters if one.grad is not None]
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(one) for one in gradients]))
    optimizer.grad_scale = (norm / limit).clamp(min=1.0)  # type: ignore[attr-defined]  # divides by it
    optimizer.found_inf = torch.zeros_like(norm)  # type: ignore[attr-defined]
    return norm
