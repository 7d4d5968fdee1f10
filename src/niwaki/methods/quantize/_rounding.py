"""What the methods of this family share: levels of bits, lenses that round, and packing exactly what was seen through them."""

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
BASE = {4: 16, 3: 7, 2: 4}  # bits → levels; seven because eleven of them fill four bytes, and one is 0


class Rounding(nn.Module):
    """A lens: the weight (rows, columns) in levels of its groups. Gradients pass as if nothing were rounded."""

    def __init__(self, weight: Tensor, base: int, group: int) -> None:
        super().__init__()
        self.base, self.group = base, min(group or weight.shape[1], weight.shape[1])

    def scale(self, weight: Tensor) -> Tensor:
        """(rows, groups); what is packed has just these."""
        raise NotImplementedError

    def forward(self, weight: Tensor) -> Tensor:
        plain = weight.detach()
        return straight(weight, rounded(plain, self.scale(plain), self.base, self.group))


def rounded(weight: Tensor, scale: Tensor, base: int, group: int) -> Tensor:
    """Each weight at the nearest level of its group."""
    parts = grouped(weight, group)
    return valued(levels(parts, scale, base), scale, base).flatten(1)[:, : weight.shape[1]]


def counts(weight: Tensor, group: int) -> Tensor:
    """How many weights of a row each group has, (groups,); the last may have fewer."""
    starts = torch.arange(0, weight.shape[1], group, device=weight.device)
    return (weight.shape[1] - starts).clamp(max=group)


def places(model: Model, embeddings: bool) -> list[str]:
    """Of the matrices, and of the token table's where that is wanted."""
    anatomy = model.anatomy
    return [*anatomy.matrices(), *(token_tables(anatomy) if embeddings else ())]


def trainable(name: str, model: Model, embeddings: bool) -> list[str]:
    """The places of matrices with plain floats, each once. Refused where others are packed; an LSTM's stay as they are."""
    found = unique_modules(model.network, places(model, embeddings))
    plain = [path for path, module in found.items() if isinstance(module, nn.Linear | nn.Embedding)]
    for path, module in found.items():
        if path not in plain and not hasattr(module, "packed"):
            raise InputError(f"{name}: '{path}' is packed already, training cannot move it; start from a stage before")
    return plain


def pack(model: Model, edit: LowBit) -> Model:
    """Takes the lenses off and packs what was seen through them, with their scales."""
    paths = edit.places(model.network, model.anatomy)
    scales = {
        path: lens.scale(parametrized_input(module, lens))
        for path, module, lens in parametrizations.find_parametrizations(model.network, paths, Rounding)
    }
    parametrizations.merge_parametrizations(model.network, paths)
    model.apply_edit(edit.with_scales(scales))
    return model


class TrainedRounding(Method, Reshapes, Bakes):
    """Base of methods that train weights through a rounding, and pack just what was seen through it."""

    embeddings: bool = setting(True, "the token table too")

    version = 2
    requires = Requirements(training=True, reduces=("file", "memory", "time"))

    def lens(self, weight: Tensor) -> nn.Module:
        raise NotImplementedError

    def edit(self) -> LowBit:
        """What the stage ends with."""
        raise NotImplementedError

    def dry_prepare(self, model: Model) -> Model:
        """Of the methods of a stage one rounds: it leaves a mark on its matrices, which packing replaces when the stage ends."""
        for module in self.matrices(model):
            other = getattr(module, "rounded_by", None)
            if other:
                raise InputError(
                    f"{self.label()}: '{other}' rounds the same matrices; give each a stage of its own, or leave one out"
                )
            module.rounded_by = self.label()
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        for module in self.matrices(model):
            parametrizations.add_parametrization(module, self.lens(module.weight.detach()))
        return model

    def matrices(self, model: Model) -> list[Any]:
        return [model.network.get_submodule(path) for path in trainable(self.label(), model, self.embeddings)]

    def finish(self, model: Model) -> Model:
        return pack(model, self.edit())


def parametrized_input(module: Any, lens: nn.Module) -> Tensor:
    """The weight as the lens gets it, through those before it."""
    weight = parametrizations.original_weight(module).detach()
    for before in takewhile(lambda one: one is not lens, module.parametrizations.weight):
        weight = before(weight).detach()
    return weight


def record_inputs(
    model: Model, paths: Sequence[str], batches: Sequence[Batch], hear: Callable[[str, Tensor], None], calls: int = 0
) -> None:
    """Shows `hear` what each matrix reads in the deployed pass, (tokens, in), batch after batch; padding is left out. What is
    written is the truth, all of it at once. A pass ends after so many calls of these matrices, where they are known."""
    left = 0

    def tell(path: str, x: Tensor) -> None:
        nonlocal left
        hear(path, real_inputs(model.anatomy, path, x, batch))
        left -= 1
        if not left:
            raise _Enough

    hooks = [
        model.network.get_submodule(path).register_forward_pre_hook(lambda module, args, path=path: tell(path, args[0]))
        for path in paths
    ]
    model.network.eval()
    try:
        for batch in batches:
            left = calls
            with contextlib.suppress(_Enough):
                if model.anatomy.is_seq2seq:
                    forward(model.anatomy, batch)
                else:
                    run_padded(model.anatomy, batch.inputs)
    finally:
        for hook in hooks:
            hook.remove()


class _Enough(Exception):
    """What was listened for was heard."""
