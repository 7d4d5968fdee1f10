"""Dropout whose random numbers are cheap to draw on a processor: torch draws them one by one, a tenth of a training step."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

LEVELS = 1 << 16  # random numbers have 16 bits


def dropout(x: Tensor, rate: float) -> Tensor:
    """A share of the elements is set to 0, the others are scaled so that the mean stays. Seeded by torch's generator."""
    if x.device.type != "cpu":
        return functional.dropout(x, rate)
    return x * _factors(x, rate) if rate else x


def _factors(like: Tensor, rate: float) -> Tensor:
    """0 or 1 / (1 - rate) for each element."""
    seed, count = int(torch.randint(1 << 62, ())), like.numel()
    words = np.random.SFC64(seed).random_raw(count // 4 + 1)  # 64 bits each
    drawn = torch.from_numpy(words).view(torch.int16)[:count].view(like.shape)
    return (drawn >= round(rate * LEVELS) - LEVELS // 2).to(like.dtype).mul_(1 / (1 - rate))


def set_dropout(network: nn.Module, rate: float | None) -> None:
    if rate is not None:
        module: Any
        for module in network.modules():
            if isinstance(module, nn.Dropout):
                module.p = rate
            elif isinstance(
                getattr(module, "dropout", None), float
            ):  # a plain number that is passed to a function, as in BART
                module.dropout = rate
