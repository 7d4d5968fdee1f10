"""Dropout, residual connection and layer norm in one pass over the rows."""

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from niwaki.models.fused.library import Context, Dropout, Norm, draw_dropout, is_plain, run, usable


def fits(mixed: Tensor, rows: Tensor, norm: nn.Module) -> bool:
    same = mixed.shape == rows.shape and mixed.dtype == rows.dtype and mixed.ndim == 2
    return same and is_plain(norm, nn.LayerNorm) and norm.weight is not None and norm.bias is not None and usable(rows)


def add_norm(mixed: Tensor, rows: Tensor, norm: nn.LayerNorm, rate: float) -> Tensor:
    """norm(dropout(mixed) + rows)."""
    return _AddNorm.apply(mixed, rows, norm.weight, norm.bias, norm.eps, draw_dropout(rate))


class _AddNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Context, mixed: Tensor, rows: Tensor, gain: Tensor, shift: Tensor, epsilon: float, drop: Dropout
    ) -> Tensor:
        mixed, rows = mixed.contiguous(), rows.contiguous()
        total, out, moments = torch.empty_like(rows), torch.empty_like(rows), torch.empty(2, len(rows))
        given = Norm(
            *rows.shape,
            *(one.data_ptr() for one in (mixed, rows, gain, shift)),
            epsilon,
            drop,
            *(one.data_ptr() for one in (total, out, *moments)),
        )
        run("norm", given)
        ctx.save_for_backward(total, gain, moments)
        ctx.settings = 0, epsilon, drop
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (total, gain, moments), gradient = ctx.saved_tensors, gradient.contiguous()
        (_, epsilon, drop), threads, width = ctx.settings, torch.get_num_threads(), total.shape[1]
        sum_gradient = torch.empty_like(total)
        mixed_gradient = torch.empty_like(total) if drop.limit else sum_gradient
        gains, shifts = torch.zeros(threads, width), torch.zeros(threads, width)
        given = Norm(
            *total.shape,
            None,
            None,
            gain.data_ptr(),
            None,
            epsilon,
            drop,
            total.data_ptr(),
            None,
            *(one.data_ptr() for one in (*moments, gradient, sum_gradient, mixed_gradient, gains, shifts)),
        )
        run("norm", given)
        return mixed_gradient, sum_gradient, gains.sum(0), shifts.sum(0), None, None
