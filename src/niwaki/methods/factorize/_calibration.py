"""Statistics of matrices on calibration batches: the covariance of their inputs, and the gradients of their outputs."""

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
Add = Callable[[str, Tensor, Tensor], None]  # path, inputs, and gradient of the outputs


@torch.no_grad()
def covariances(model: Model, paths: Iterable[str], batches: Iterable[Batch], context: Context) -> dict[str, Tensor]:
    """For each matrix, the sum of x xᵀ over its inputs x without padding, (in, in); double precision."""
    found: dict[str, Tensor] = {}

    def add(path: str, x: Tensor, y: Tensor) -> None:
        real = real_inputs(model.anatomy, path, x, batch).double()  # (tokens, in)
        found[path] = found.get(path, 0) + real.T @ real

    with hooked(model, paths, add):
        for batch in batches:
            context.loss(model, batch)
    return found


def fisher_rows(model: Model, paths: Iterable[str], batches: Iterable[Batch], context: Context) -> dict[str, Tensor]:
    """For each matrix (out,): squared gradients of the loss with respect to its weights, summed over each row and the batches."""
    found: dict[str, Tensor] = {}
    sums: dict[str, Tensor] = {}  # of this batch; a matrix may be used several times

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
    """For each matrix (out,): squared gradients of the loss with respect to its outputs, summed over tokens and batches."""
    found: dict[str, Tensor] = {}

    def add(path: str, x: Tensor, gradient: Tensor) -> None:
        found[path] = found.get(path, 0) + gradient.square().sum(dim=0)

    for _ in backwards(model, paths, batches, context, add):
        pass
    return found


def backwards(
    model: Model, paths: Iterable[str], batches: Iterable[Batch], context: Context, add: Add
) -> Iterator[None]:
    """Run each batch forward and backward; calls `add` with the inputs (tokens, in) of each matrix and the gradient of the loss with
    respect to its outputs (tokens, out). The weights' gradients are discarded."""

    def on_output(path: str, x: Tensor, y: Tensor) -> Tensor:
        y = y if y.requires_grad else y.detach().requires_grad_()  # if everything before it is frozen
        y.register_hook(
            lambda gradient: add(path, x.detach().flatten(0, -2).double(), gradient.flatten(0, -2).double())
        )
        return y

    with hooked(model, paths, on_output), torch.enable_grad():
        for batch in batches:
            context.loss(model, batch).backward()
            model.network.zero_grad(set_to_none=True)
            yield


@contextlib.contextmanager
def hooked(model: Model, paths: Iterable[str], hook: Hook) -> Iterator[None]:
    """Call the hook after every use of a matrix, without dropout; a shared matrix is named by its first path."""
    was_training = model.network.training
    model.network.eval()

    def forward_hook(path: str) -> Callable[..., Tensor | None]:
        return lambda module, args, output: hook(path, args[0], output)

    handles = [
        module.register_forward_hook(forward_hook(path)) for path, module in distinct_matrices(model, paths).items()
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        model.network.train(was_training)


def distinct_matrices(model: Model, paths: Iterable[str]) -> Mapping[str, Any]:
    """The matrices at these paths, each once, by its first path; LSTMs are left out."""
    found = unique_modules(model.network, paths)
    return {path: module for path, module in found.items() if hasattr(module, "in_features")}
