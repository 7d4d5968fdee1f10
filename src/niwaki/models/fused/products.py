"""Products of rows with weight matrices, and their gradients."""

from collections.abc import Sequence

import torch
from torch import Tensor

from niwaki.models.fused.library import (
    NARROW,
    NOTHING,
    PANEL,
    TALL,
    Activations,
    Product,
    WeightGradient,
    Weights,
    run,
    scratch,
)


def multiply(
    rows: Tensor, weight: Tensor, bias: Tensor | None, out: Tensor, then: int = NOTHING, slope: Tensor | None = None
) -> None:
    """Fills `out` (tokens, outputs) with rows times a weight matrix (outputs, inputs), plus bias, and what follows (`then`)."""
    outputs, inputs = weight.shape
    panels = scratch("weights", _up(outputs, PANEL) * inputs)
    run("pack_weights", Weights(weight.data_ptr(), outputs, inputs, outputs, 0, panels.data_ptr()))
    _multiply(rows, panels, out, then=then, bias=_address(bias), slope=_address(slope))


def multiply_back(gradient: Tensor, weights: Sequence[Tensor], out: Tensor, **more: int | None) -> None:
    """Fills `out` (tokens, inputs) with gradients (tokens, outputs) times weight matrices that are stacked along their outputs."""
    inputs, total, before = weights[0].shape[1], gradient.shape[1], 0
    panels = scratch("weights", _up(inputs, PANEL) * total)
    for weight in weights:
        run(
            "pack_weights",
            Weights(weight.data_ptr(), len(weight), inputs, total, before, None, panels.data_ptr()),
        )
        before += len(weight)
    _multiply(gradient, panels, out, **more)


def weight_gradient(gradient: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of a weight matrix (outputs, inputs) and of its bias, from those of its outputs (tokens, outputs) and its rows
    (tokens, inputs). Both are fp32."""
    (tokens, inputs), outputs, threads = rows.shape, gradient.shape[1], torch.get_num_threads()
    pairs, found, sums = (tokens + 1) // 2, torch.empty(outputs, inputs), torch.zeros(threads, outputs)
    panels = scratch("rows", _up(inputs, NARROW) * pairs * 2).data_ptr()
    blocks = scratch("gradients", _up(outputs, TALL) * pairs * 2).data_ptr()
    run("pack_activations", Activations(rows.data_ptr(), tokens, inputs, rows.stride(0), panels))
    run(
        "pack_activations",
        Activations(gradient.data_ptr(), tokens, outputs, gradient.stride(0), None, blocks, sums.data_ptr()),
    )
    run("weight_gradient", WeightGradient(blocks, panels, outputs, inputs, pairs, found.data_ptr()))
    return found, sums.sum(0)


def _multiply(rows: Tensor, panels: Tensor, out: Tensor, **more: int | None) -> None:
    (tokens, inputs), columns, step = rows.shape, out.shape[1], rows.stride(0)
    shape = tokens, columns, inputs // 2, step
    run(
        "product",
        Product(rows.data_ptr(), panels.data_ptr(), *shape, out=out.data_ptr(), stride=out.stride(0), **more),
    )


def _address(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()


def _up(count: int, step: int) -> int:
    return -(-count // step) * step
