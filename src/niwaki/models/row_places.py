"""Rows taken from places and put to places, with gradients that are copied instead of added up row by row."""

from typing import Any

import torch
from torch import Tensor


class Gather(torch.autograd.Function):
    """Rows at some places, none of them twice: so the gradient is copied back. torch would add it up row by row."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.count = len(rows)
        return rows.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _scattered(gradients[0], ctx.saved_tensors[0], ctx.count), None


class Scatter(torch.autograd.Function):
    """Rows to their places among `count`; the others are 0."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor, count: int) -> Tensor:
        ctx.save_for_backward(places)
        return _scattered(rows, places, count)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return gradients[0].index_select(0, ctx.saved_tensors[0]), None, None


def gather_rows(rows: Tensor, places: Tensor) -> Tensor:
    """Rows at some places, none of them twice."""
    return rows.index_select(0, places) if torch.jit.is_tracing() else Gather.apply(rows, places)


def _scattered(rows: Tensor, places: Tensor, count: int) -> Tensor:
    return rows.new_zeros(count, *rows.shape[1:]).index_copy_(0, places, rows)
