"""What methods that leave single weights out share: which matrices, the mask while training, the schedule, the choice."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from niwaki.core.errors import Refused
from niwaki.models.edits.sparse import Sparse
from niwaki.models.forms.int8 import Int8Linear
from niwaki.models.forms.store import StoredLinear
from niwaki.models.lenses import Lens, bake, lenses, put
from niwaki.models.model import Model
from niwaki.models.places import exchange, plain

Scope = Literal["global", "layer"]
UPDATES = 32  # of masks in a training: a threshold over ten million weights takes a third of a second


class Mask(nn.Module):
    """A lens that shows the weights that are kept. `updates` counts how often that was decided."""

    kept: Tensor
    updates: Tensor

    def __init__(self, weight: Tensor, kept: Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("kept", torch.ones_like(weight, dtype=torch.bool) if kept is None else kept)
        self.register_buffer("updates", torch.zeros((), dtype=torch.int64))

    def forward(self, weight: Tensor) -> Tensor:
        return weight * self.kept


def matrices(model: Model, name: str) -> dict[str, Any]:
    """The matrices that can be stored sparse, each once, by their first paths. Refused, in the name of the method, without any."""
    found: dict[int, tuple[str, Any]] = {}
    for path in model.anatomy.matrices():
        module = model.network.get_submodule(path)
        if isinstance(module, nn.Linear | Int8Linear | StoredLinear):
            found.setdefault(id(module), (path, module))
    if not found:
        raise Refused(f"{name}: this model has no matrices that it could prune; leave '{name}' out")
    return dict(found.values())


def is_packed(module: Any) -> bool:
    """Whether training cannot move the weights."""
    return isinstance(module, Int8Linear) or (isinstance(module, StoredLinear) and module.store.integers)


def refuse_packed(model: Model, name: str) -> None:
    if any(is_packed(module) for module in matrices(model, name).values()):
        raise Refused(
            f"{name}: the weights are packed, training cannot move them; prune before packing, or use 'magnitude'"
        )


def opened(model: Model, name: str) -> dict[str, nn.Linear]:
    """The matrices that can be trained, as plain ones: those stored sparse are so again when the method finishes."""
    paths = [path for path, module in matrices(model, name).items() if not is_packed(module)]
    exchange(model.network, model.anatomy.matrices(), lambda old: old if _stays(old) else plain(old))
    return {path: model.network.get_submodule(path) for path in paths}


def _stays(module: Any) -> bool:
    return is_packed(module) or not isinstance(module, StoredLinear)


def seen_by(model: Model, kind: type[Lens], count: int, name: str) -> list[tuple[str, Any, Lens]]:
    """The lenses of the kind, each once. Refused where some of `count` are gone: another method has put matrices in their place."""
    every = lenses(model.network, model.anatomy.matrices(), kind)
    found = list({id(lens): (path, module, lens) for path, module, lens in every}.values())
    if len(found) != count:
        raise Refused(f"{name}: a method named after it cuts or replaces its matrices; name '{name}' after that one")
    return found


def put_masks(modules: Iterable[nn.Linear]) -> int:
    """How many there are."""
    found = list(modules)
    for module in found:
        put(module, Mask(module.weight))
    return len(found)


def store(model: Model, masks: dict[str, Tensor] | None = None) -> Model:
    """As it is seen, without the zeros; `masks` say what else is left out."""
    bake(model.network, model.anatomy.matrices())
    model.operate(Sparse().masking(masks or {}))
    return model


def cubic(progress: float, begin: float, end: float, last: float) -> float:
    """From 0 at `begin` to `last` at `end`: fast where much is superfluous, ever slower (Zhu & Gupta 2017)."""
    left = 1 - min(1.0, max(0.0, (progress - begin) / (end - begin)))
    return last * (1 - left**3)


def due(progress: float) -> int:
    """How many updates should have been made."""
    return int(progress * UPDATES + 1e-9)


def largest(values: Sequence[Tensor], sparsity: float, scope: Scope) -> list[Tensor]:
    """True for all but the `sparsity` smallest, of all tensors together or of each."""
    if scope == "layer":
        return [_largest(value.flatten(), sparsity).view(value.shape) for value in values]
    flat = _largest(torch.cat([value.flatten() for value in values]), sparsity)
    parts = flat.split([value.numel() for value in values])
    return [part.view(value.shape) for part, value in zip(parts, values, strict=True)]


def _largest(values: Tensor, sparsity: float) -> Tensor:
    """Of equal ones the first are kept, so that exactly as many are as are asked for."""
    threshold = lowest(values, sparsity)
    if threshold is None:
        return torch.ones_like(values, dtype=torch.bool)
    above = values > threshold
    missing = len(values) - round(sparsity * len(values)) - int(above.sum())
    if not missing:
        return above
    equal = values == threshold
    return above | (equal & (equal.cumsum(0) <= missing))


def lowest(values: Tensor, sparsity: float) -> Tensor | None:
    """The largest of the `sparsity` smallest; None where these are none."""
    count = round(sparsity * len(values))
    return values.kthvalue(count).values if count else None
