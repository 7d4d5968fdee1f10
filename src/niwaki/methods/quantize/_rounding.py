"""Shared by the quantization methods: levels of a bit width, roundings during training, and packing exactly what was trained."""

import contextlib
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any, Literal

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Context, Method, Requirements, Reshapes
from niwaki.models import parametrizations
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.embedding_tables import token_tables
from niwaki.models.forward import Batch, forward, real_inputs, run_padded
from niwaki.models.model import Model
from niwaki.models.module_paths import unique_modules
from niwaki.models.packed.low_bit import grouped, levels, valued
from niwaki.models.packed.rounding import straight

Bits = Literal[4, 3, 2]
BASE = {4: 16, 3: 7, 2: 4}  # bits → levels; 7 levels: eleven weights fill four bytes, and one level is 0


class Rounding(nn.Module):
    """A parametrization that rounds a weight (rows, columns) to the levels of its groups. Straight-through gradient."""

    def __init__(self, weight: Tensor, base: int, group: int) -> None:
        super().__init__()
        self.base, self.group = base, min(group or weight.shape[1], weight.shape[1])

    def scale(self, weight: Tensor) -> Tensor:
        """(rows, groups); packing uses exactly these scales."""
        raise NotImplementedError

    def forward(self, weight: Tensor) -> Tensor:
        plain = weight.detach()
        return straight(weight, rounded(plain, self.scale(plain), self.base, self.group))


def rounded(weight: Tensor, scale: Tensor, base: int, group: int) -> Tensor:
    """Each weight rounded to the nearest level of its group."""
    parts = grouped(weight, group)
    return valued(levels(parts, scale, base), scale, base).flatten(1)[:, : weight.shape[1]]


def counts(weight: Tensor, group: int) -> Tensor:
    """The number of weights in each group of a row, (groups,); the last group may be smaller."""
    starts = torch.arange(0, weight.shape[1], group, device=weight.device)
    return (weight.shape[1] - starts).clamp(max=group)


def places(model: Model, embeddings: bool) -> list[str]:
    """Paths of the matrices and, optionally, of the token table."""
    anatomy = model.anatomy
    return [*anatomy.matrices(), *(token_tables(anatomy) if embeddings else ())]


def trainable(name: str, model: Model, embeddings: bool) -> list[str]:
    """Paths of the float matrices, each once; LSTM matrices are left out. Raises InputError for method `name` if any are packed."""
    found = unique_modules(model.network, places(model, embeddings))
    plain = [path for path, module in found.items() if isinstance(module, nn.Linear | nn.Embedding)]
    for path, module in found.items():
        if path not in plain and not hasattr(module, "packed"):
            raise InputError(f"{name}: '{path}' is packed and cannot be trained; start from an earlier stage")
    return plain


def pack(model: Model, edit: LowBit) -> Model:
    """Merge the roundings and pack the rounded weights with the same scales."""
    paths = edit.places(model.network, model.anatomy)
    scales = {
        path: rounding.scale(parametrized_input(module, rounding))
        for path, module, rounding in parametrizations.find_parametrizations(model.network, paths, Rounding)
    }
    parametrizations.merge_parametrizations(model.network, paths)
    model.apply_edit(edit.with_scales(scales))
    return model


class TrainedRounding(Method, Reshapes, Bakes):
    """Base of methods that train rounded weights and pack exactly those."""

    embeddings: bool = setting(True, "round the token table too")

    version = 2
    requires = Requirements(training=True, reduces=("file", "memory", "time"))

    def rounding(self, weight: Tensor) -> nn.Module:
        raise NotImplementedError

    def edit(self) -> LowBit:
        """The edit that packs the trained weights."""
        raise NotImplementedError

    def dry_prepare(self, model: Model) -> Model:
        """Mark the matrices, so that a second rounding in the stage is rejected; packing replaces them when the stage ends."""
        for module in self.matrices(model):
            other = getattr(module, "rounded_by", None)
            if other:
                raise InputError(
                    f"{self.label()}: '{other}' rounds the same matrices; put them into different stages, or leave one out"
                )
            module.rounded_by = self.label()
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        for module in self.matrices(model):
            parametrizations.add_parametrization(module, self.rounding(module.weight.detach()))
        return model

    def matrices(self, model: Model) -> list[Any]:
        return [model.network.get_submodule(path) for path in trainable(self.label(), model, self.embeddings)]

    def finish(self, model: Model) -> Model:
        return pack(model, self.edit())


def parametrized_input(module: Any, rounding: nn.Module) -> Tensor:
    """The weight that reaches a parametrization, after those before it."""
    weight = parametrizations.original_weight(module).detach()
    for before in takewhile(lambda parametrization: parametrization is not rounding, module.parametrizations.weight):
        weight = before(weight).detach()
    return weight


def record_inputs(
    model: Model, paths: Sequence[str], batches: Sequence[Batch], record: Callable[[str, Tensor], None], calls: int = 0
) -> None:
    """Call `record` with the path and the inputs (tokens, in) of each matrix, batch by batch, without padding. Decoders read the
    reference text. With `calls`, a forward pass ends after that many calls of these matrices."""
    remaining_calls = 0

    def on_input(path: str, x: Tensor) -> None:
        nonlocal remaining_calls
        record(path, real_inputs(model.anatomy, path, x, batch))
        remaining_calls -= 1
        if not remaining_calls:
            raise _AllRecorded

    hooks = [
        model.network.get_submodule(path).register_forward_pre_hook(
            lambda module, args, path=path: on_input(path, args[0])
        )
        for path in paths
    ]
    model.network.eval()
    try:
        for batch in batches:
            remaining_calls = calls
            with contextlib.suppress(_AllRecorded):
                if model.anatomy.is_seq2seq:
                    forward(model.anatomy, batch)
                else:
                    run_padded(model.anatomy, batch.inputs)
    finally:
        for hook in hooks:
            hook.remove()


class _AllRecorded(Exception):
    """Ends a forward pass after the last recorded input."""
