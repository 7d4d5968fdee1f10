"""What matrices see on calibration batches: the covariance of their inputs, and how the loss depends on each of their outputs."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from niwaki.methods._method import Context
from niwaki.models.forward import Batch, real_inputs
from niwaki.models.model import Model
from niwaki.models.module_paths import unique_modules

Hook = Callable[[str, Tensor, Tensor], Tensor | None]  # path, inputs and outputs of a matrix
Add = Callable[[str, Tensor, Tensor], None]  # path, inputs, and the loss's gradient by the outputs


@torch.no_grad()
def covariances(model: Model, paths: Iterable[str], batches: Iterable[Batch], context: Context) -> dict[str, Tensor]:
    """Of each matrix the sum of x xᵀ over all inputs x of real tokens, (in, in); double precision."""
    found: dict[str, Tensor] = {}

    def add(path: str, x: Tensor, y: Tensor) -> None:
        real = real_inputs(model.anatomy, path, x, batch).double()  # (tokens, in)
        found[path] = found.get(path, 0) + real.T @ real

    with hooked(model, paths, add):
        for batch in batches:
            context.loss(model, batch)
    return found


def fisher_rows(model: Model, paths: Iterable[str], batches: Iterable[Batch], context: Context) -> dict[str, Tensor]:
    """Of each matrix (out,): the squares of the loss's gradient by its weights, summed over each row and the batches."""
    found: dict[str, Tensor] = {}
    sums: dict[str, Tensor] = {}  # of this batch: a matrix may be used several times in it

    def add(path: str, x: Tensor, gradient: Tensor) -> None:
        sums[path] = sums.get(path, 0) + gradient.T @ x

    for _ in backwards(model, paths, batches, context, add):
        for path, gradient in sums.items():
            found[path] = found.get(path, 0) + gradient.square().sum(dim=1)
        sums.clear()
    return found


def output_gradients(
    model: Model, paths: Iterable[str], batches: Iterable[Batch], context: Context
) -> dict[str, Tensor]:
    """Of each matrix (out,): the squares of the loss's gradient by its outputs, summed over tokens and batches."""
    found: dict[str, Tensor] = {}

    def add(path: str, x: Tensor, gradient: Tensor) -> None:
        found[path] = found.get(path, 0) + gradient.square().sum(dim=0)

    for _ in backwards(model, paths, batches, context, add):
        pass
    return found


def backwards(
    model: Model, paths: Iterable[str], batches: Iterable[Batch], context: Context, add: Add
) -> Iterator[None]:
    """Runs each batch forward and backward; `add` is told the inputs (tokens, in) of a matrix and the loss's gradient by its
    outputs (tokens, out). The weights' own gradients are thrown away."""

    def listen(path: str, x: Tensor, y: Tensor) -> Tensor:
        y = y if y.requires_grad else y.detach().requires_grad_()  # where all before it is frozen
        y.register_hook(
            lambda gradient: add(path, x.detach().flatten(0, -2).double(), gradient.flatten(0, -2).double())
        )
        return y

    with hooked(model, paths, listen), torch.enable_grad():
        for batch in batches:
            context.loss(model, batch).backward()
            model.network.zero_grad(set_to_none=True)
            yield


@contextlib.contextmanager
def hooked(model: Model, paths: Iterable[str], hook: Hook) -> Iterator[None]:
    """Calls the hook whenever a matrix was used, without dropout; one that lies in several places is known by its first path."""
    was_training = model.network.training
    model.network.eval()

    def listener(path: str) -> Callable:
        return lambda module, args, output: hook(path, args[0], output)

    handles = [module.register_forward_hook(listener(path)) for path, module in distinct_matrices(model, paths).items()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        model.network.train(was_training)


def distinct_matrices(model: Model, paths: Iterable[str]) -> Mapping[str, Any]:
    """By the first path of each, those that are matrices: an LSTM is none."""
    found = unique_modules(model.network, paths)
    return {path: module for path, module in found.items() if hasattr(module, "in_features")}
