"""Layer norm of fp32 rows to bf16: networks with norms first keep the sum over their layers in fp32."""

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from niwaki.models.fused.library import Context, PreNorm, draw_dropout, is_plain, run, usable


def fits(rows: Tensor, norm: nn.Module) -> bool:
    plain = is_plain(norm, nn.LayerNorm) and norm.weight is not None and norm.bias is not None
    return plain and rows.ndim == 2 and usable(rows, torch.float32)


def pre_norm(rows: Tensor, norm: nn.LayerNorm) -> Tensor:
    """norm(rows) in bf16."""
    return _PreNorm.apply(rows, norm.weight, norm.bias, norm.eps)


class _PreNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Context, rows: Tensor, gain: Tensor, shift: Tensor, epsilon: float) -> Tensor:
        rows, moments = rows.contiguous(), torch.empty(2, len(rows))
        out = torch.empty(rows.shape, dtype=torch.bfloat16)
        addresses = (one.data_ptr() for one in (rows, gain, shift))
        run("pre_norm", PreNorm(*rows.shape, *addresses, epsilon, *(one.data_ptr() for one in (out, *moments))))
        ctx.save_for_backward(rows, gain, moments)
        ctx.settings = 0, epsilon, draw_dropout(0.0)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (rows, gain, moments), gradient = ctx.saved_tensors, gradient.contiguous()
        found = torch.empty_like(rows)
        gains, shifts = torch.zeros(2, torch.get_num_threads(), rows.shape[1])
        addresses = (one.data_ptr() for one in (*moments, gradient, found, gains, shifts))
        run("pre_norm", PreNorm(*rows.shape, rows.data_ptr(), gain.data_ptr(), None, ctx.settings[1], None, *addresses))
        return found, gains.sum(0), shifts.sum(0), None
