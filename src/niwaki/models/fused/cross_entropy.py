"""Cross-entropy over a vocabulary: the gradient is computed with the loss, and logits are never copied to fp32."""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from niwaki.models.fused.library import Context, CrossEntropy, run, usable


def fits(logits: Tensor) -> bool:
    return usable(logits) and logits.ndim == 2 and logits.requires_grad and len(logits) > 0


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean over rows (rows, classes) with the targets (rows,)."""
    return _CrossEntropy.apply(logits, targets)


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Context, logits: Tensor, targets: Tensor) -> Tensor:
        if targets.min() < 0 or targets.max() >= logits.shape[1]:
            raise IndexError("cross-entropy: a target is not one of the classes")
        logits, targets = logits if logits.stride(1) == 1 else logits.contiguous(), targets.contiguous()
        losses, gradient = torch.empty(len(logits)), torch.empty(logits.shape, dtype=logits.dtype)
        given = CrossEntropy(
            *logits.shape, logits.stride(0), logits.data_ptr(), targets.data_ptr(), 1 / len(logits), losses.data_ptr()
        )
        given.gradient = gradient.data_ptr()
        run("cross_entropy", given)
        ctx.save_for_backward(gradient)
        return losses.mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, upstream: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return gradient if float(upstream) == 1.0 else gradient * upstream.to(gradient.dtype), None
