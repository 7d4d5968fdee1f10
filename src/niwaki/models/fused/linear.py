"""Linear layers that read the same rows, e.g. query, key and value."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from niwaki.models.fused.library import Context, is_plain, usable
from niwaki.models.fused.products import multiply, multiply_back, weight_gradient


def fits(rows: Tensor, modules: Sequence[nn.Linear]) -> bool:
    """Whether `linear` can replace calls of these modules."""
    return all(is_plain(one, nn.Linear) and fits_weight(rows, one.weight) for one in modules)


def fits_weight(rows: Tensor, weight: Tensor) -> bool:
    """Whether `product` can multiply rows with a weight matrix (outputs, inputs)."""
    even = not (weight.shape[0] % 2 or weight.shape[1] % 2)
    stored = even and weight.dtype == torch.float32 and weight.is_contiguous()
    return stored and rows.ndim == 2 and usable(rows)


def linear(rows: Tensor, modules: Sequence[nn.Linear]) -> tuple[Tensor, ...]:
    """Outputs (tokens, outputs) of each module."""
    return _Linear.apply(rows, len(modules), *(one.weight for one in modules), *(one.bias for one in modules))


def product(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Rows (tokens, inputs) times a weight matrix (outputs, inputs), plus bias."""
    return _Linear.apply(rows, 1, weight, bias)[0]


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Context, rows: Tensor, count: int, *parameters: Tensor | None) -> tuple[Tensor, ...]:
        weights, biases = parameters[:count], parameters[count:]
        rows = rows if rows.stride(1) == 1 else rows.contiguous()
        sizes = [len(weight) for weight in weights]  # type: ignore[arg-type]
        outputs = rows.new_empty(len(rows), sum(sizes)).split(sizes, dim=1)
        for weight, bias, out in zip(weights, biases, outputs, strict=True):
            multiply(rows, weight, bias, out)  # type: ignore[arg-type]
        ctx.save_for_backward(rows, *weights)
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        rows, *weights = ctx.saved_tensors
        gradient = side_by_side(gradients)
        rows_gradient = None
        if ctx.needs_input_grad[0]:
            rows_gradient = torch.empty_like(rows)
            multiply_back(gradient, weights, rows_gradient)
        if not any(ctx.needs_input_grad[2:]):
            return rows_gradient, None, *[None] * (2 * len(weights))
        whole, bias = weight_gradient(gradient, rows)
        sizes = [len(weight) for weight in weights]
        found = [*whole.split(sizes), *bias.split(sizes)]
        needed = ctx.needs_input_grad[2:]
        return rows_gradient, None, *(one if need else None for one, need in zip(found, needed, strict=True))


def side_by_side(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors (tokens, width) as one, without copying where they are neighbours in memory."""
    first, width = tensors[0], sum(one.shape[1] for one in tensors)
    address = first.data_ptr()
    for one in tensors:
        if one.data_ptr() != address or one.stride() != (width, 1):
            return torch.cat(tuple(tensors), dim=1) if len(tensors) > 1 else first.contiguous()
        address += one.shape[1] * one.element_size()
    return first.as_strided((len(first), width), (width, 1))
