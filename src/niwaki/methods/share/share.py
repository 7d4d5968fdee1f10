"""Neighbouring layers share their matrices, as all of ALBERT's layers do; the shared matrices are chosen among the existing ones.

Each layer keeps its own norms and still runs: this saves bytes, not time. A decoder's layers share among themselves.

Paper: Lan et al. 2020, ALBERT (arXiv 1909.11942); starting from layers of a trained model as in Bae et al. 2024, Relaxed Recursive
Transformers (arXiv 2410.20672).
Cost: `best` runs the calibration batches once for every layer; `first` and `mean` cost nothing.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._layer_choice import mean_loss
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.share import Share as ShareEdit
from niwaki.models.edits.share import Whole, parts_of
from niwaki.models.model import Model


class Share(Method, Reshapes):
    groups: int | None = setting(None, "number of different layers; default: half", ge=1)
    what: Literal["all", "attention", "ffn"] = setting("all", "which matrices are shared")
    choose: Literal["best", "first", "mean"] = setting(
        "best", "the matrices of a group: of the layer with the lowest loss, of the first layer, or the mean"
    )
    batches: int = setting(8, "calibration batches to measure the loss", ge=1)

    requires = Requirements(reduces=("file", "memory"))

    def dry_prepare(self, model: Model) -> Model:
        model.apply_edit(self._edit([group[0] for group in self._groups(model)], self._groups(model)))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        groups = self._groups(model)
        chosen = [group[0] for group in groups]
        if self.choose == "best":
            chosen = self._best(model, groups, context)
        elif self.choose == "mean":
            layers = whole_layers(model)
            for group in groups:
                for parts in zip(*(self._matrices(layers[number]) for number in group), strict=True):
                    average(parts)
        model.apply_edit(self._edit(chosen, groups))
        return model

    def _best(self, model: Model, groups: list[list[int]], context: Context) -> list[int]:
        """Choose group by group; later groups stay unshared meanwhile."""
        batches = list(context.calibration(model, self.batches))
        chosen: list[int] = []
        for place, group in enumerate(groups):
            alone = [[number] for later in groups[place + 1 :] for number in later]

            def loss(number: int, place: int = place, alone: list[list[int]] = alone) -> float:
                tried = model.clone()
                tried.apply_edit(
                    self._edit([*chosen, number, *(one[0] for one in alone)], [*groups[: place + 1], *alone])
                )
                return mean_loss(tried, batches, context)

            chosen.append(min(group, key=loss) if len(group) > 1 else group[0])
        return chosen

    def _edit(self, chosen: list[int], groups: list[list[int]]) -> ShareEdit:
        return ShareEdit(of=[one for one, group in zip(chosen, groups, strict=True) for _ in group], what=self.what)

    def _groups(self, model: Model) -> list[list[int]]:
        model.anatomy.require_layers("share")
        depths = {name: len(stack) for name, stack in model.anatomy.stacks.items()}
        if depths["layer"] < len(model.anatomy.order):
            depths["layer"] = 0  # already shared
        counts = {name: self.groups or (depth + 1) // 2 for name, depth in depths.items() if depth}
        if not counts:
            raise InputError("share: the layers of this model are already shared; leave 'share' out")
        if all(counts[name] >= depths[name] for name in counts):
            counted = " and ".join(f"{counts[name]} groups of {depths[name]} {name}s" for name in counts)
            raise InputError(f"share: {counted} share nothing; lower groups, or leave 'share' out")
        matrices = [matrix for layer in whole_layers(model) for matrix in self._matrices(layer)]
        if self.choose == "mean" and not all(isinstance(matrix, nn.Linear) for matrix in matrices):
            raise InputError("share: packed or factored matrices have no mean; choose = 'best' or 'first'")
        found: list[list[int]] = []
        for name, stack in model.anatomy.stacks.items():
            first = sum(map(len, found))
            groups = groups_of(len(stack), min(counts.get(name, len(stack)), len(stack)))
            found += [[first + number for number in group] for group in groups]
        return found

    def _matrices(self, layer: Whole) -> list[nn.Module]:
        return [one.part(part) for one, _, part in parts_of(layer, layer, self.what)]


def whole_layers(model: Model) -> list[Whole]:
    """All layers, in the order of the edit's numbers."""
    return [layer for stack in model.anatomy.stacks.values() for layer in stack]


def groups_of(depth: int, count: int) -> list[list[int]]:
    """`depth` layers in `count` groups of neighbours of similar size: 5 in 2 are [0, 1, 2] and [3, 4]."""
    return [[number for number in range(depth) if number * count // depth == group] for group in range(count)]


@torch.no_grad()
def average(matrices: Sequence[nn.Linear]) -> None:
    """Set the first to the mean of all."""

    def mean(values: list[Tensor]) -> Tensor:
        return torch.stack(values).mean(dim=0)

    matrices[0].weight.copy_(mean([matrix.weight for matrix in matrices]))
    if matrices[0].bias is not None:
        matrices[0].bias.copy_(mean([matrix.bias for matrix in matrices]))
