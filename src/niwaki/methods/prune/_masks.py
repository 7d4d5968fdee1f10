"""Shared by the methods that prune single weights: the matrices, the mask during training, the schedule, the choice of weights."""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from pydantic import model_validator
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Method, Requirements, Reshapes, Schedules
from niwaki.models.edits.sparse import Sparse
from niwaki.models.model import Model
from niwaki.models.module_paths import replace_modules, to_dense, unique_modules
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.store import StoredLinear
from niwaki.models.parametrizations import Parametrization, find_parametrizations, merge_parametrizations

Scope = Literal["global", "layer"]
UPDATES = 32  # of the masks in one training; a threshold over ten million weights takes a third of a second


class Mask(nn.Module):
    """A parametrization that multiplies by a mask; `updates` counts how often the mask was chosen."""

    remaining: Tensor
    updates: Tensor

    def __init__(self, weight: Tensor, remaining: Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("remaining", torch.ones_like(weight, dtype=torch.bool) if remaining is None else remaining)
        self.register_buffer("updates", torch.zeros((), dtype=torch.int64))

    def forward(self, weight: Tensor) -> Tensor:
        return weight * self.remaining


def matrices(model: Model, name: str) -> Json:
    """The matrices that can be stored sparse, each once, by their first paths. Raises InputError for method `name` without any."""
    every = unique_modules(model.network, model.anatomy.matrices())
    found = {path: one for path, one in every.items() if isinstance(one, nn.Linear | Int8Linear | StoredLinear)}
    if not found:
        raise InputError(f"{name}: this model has no matrices to prune; leave '{name}' out")
    return found


def is_packed(module: object) -> bool:
    """Whether the weights cannot be trained."""
    return isinstance(module, Int8Linear) or (isinstance(module, StoredLinear) and module.store.integers)


def reject_packed(model: Model, name: str) -> None:
    if any(is_packed(module) for module in matrices(model, name).values()):
        raise InputError(
            f"{name}: the weights are packed and cannot be trained; prune before packing, or use 'magnitude'"
        )


def densify(model: Model, name: str) -> dict[str, nn.Linear]:
    """Convert sparse matrices to dense ones for training, and return the trainable matrices; `store_sparse` reverts it."""
    paths = [path for path, module in matrices(model, name).items() if not is_packed(module)]
    replace_modules(model.network, model.anatomy.matrices(), lambda old: old if _stays(old) else to_dense(old))
    return {path: model.network.get_submodule(path) for path in paths}


def _stays(module: object) -> bool:
    return is_packed(module) or not isinstance(module, StoredLinear)


def parametrizations_of(model: Model, kind: type[Parametrization]) -> list[tuple[str, Any, Parametrization]]:
    """The parametrizations of a type, each once."""
    every = find_parametrizations(model.network, model.anatomy.matrices(), kind)
    return list(
        {id(parametrization): (path, module, parametrization) for path, module, parametrization in every}.values()
    )


def store_sparse(model: Model, masks: dict[str, Tensor] | None = None) -> Model:
    """Merge the parametrizations and store the matrices without zeros; `masks` select further weights to remove."""
    merge_parametrizations(model.network, model.anatomy.matrices())
    model.apply_edit(Sparse().with_masks(masks or {}))
    return model


class Gradual(Method, Reshapes, Schedules, Bakes):
    """Base of methods that prune more and more during training."""

    begin: float = setting(0.1, "training progress at which pruning starts, from 0 to 1", ge=0, lt=1)
    end: float = setting(
        0.7, "training progress at which pruning ends; the remaining steps recover quality", gt=0, le=1
    )

    requires = Requirements(pins_modules=True, reduces=("file",))

    @model_validator(mode="after")
    def _ordered(self) -> "Gradual":
        if self.begin >= self.end:
            raise ValueError(f"begin must be less than end, which is {self.end:g}")
        return self

    @property
    def min_progress(self) -> float:
        return self.end


def cubic_sparsity(progress: float, begin: float, end: float, last: float) -> float:
    """From 0 at `begin` to `last` at `end`, fast at first (Zhu & Gupta 2017)."""
    left = 1 - min(1.0, max(0.0, (progress - begin) / (end - begin)))
    return last * (1 - left**3)


def updates_due(progress: float) -> int:
    """Number of mask updates due so far."""
    return int(progress * UPDATES + 1e-9)


def keep_largest(values: Sequence[Tensor], sparsity: float, scope: Scope) -> list[Tensor]:
    """True except for the fraction `sparsity` of smallest values, over all tensors together or in each."""
    if scope == "layer":
        return [_largest(value.flatten(), sparsity).view(value.shape) for value in values]
    flat = _largest(torch.cat([value.flatten() for value in values]), sparsity)
    parts = flat.split([value.numel() for value in values])
    return [part.view(value.shape) for part, value in zip(parts, values, strict=True)]


def _largest(values: Tensor, sparsity: float) -> Tensor:
    """Of equal values the first are kept, so that the number is exact."""
    threshold = sparsity_threshold(values, sparsity)
    if threshold is None:
        return torch.ones_like(values, dtype=torch.bool)
    above = values > threshold
    missing = len(values) - round(sparsity * len(values)) - int(above.sum())
    if not missing:
        return above
    equal = values == threshold
    return above | (equal & (equal.cumsum(0) <= missing))


def sparsity_threshold(values: Tensor, sparsity: float) -> Tensor | None:
    """The largest of the fraction `sparsity` of smallest values; None if there are none."""
    count = round(sparsity * len(values))
    return values.kthvalue(count).values if count else None
