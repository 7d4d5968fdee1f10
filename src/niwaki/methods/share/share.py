"""Layers side by side share their matrices, as all of ALBERT's do; those that stay are chosen from the ones there are.

Each layer keeps norms of its own, and runs as before: what is saved is bytes, not time.

Paper: Lan et al. 2020, ALBERT (arXiv 1909.11942); a start from layers of a trained model as in Bae et al. 2024, Relaxed Recursive
Transformers (arXiv 2410.20672).
Cost: `best` runs the calibration batches once for every layer; `first` and `mean` cost nothing.
"""

from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from niwaki.core.errors import Refused
from niwaki.core.settings import setting
from niwaki.methods._choosing import mean_loss
from niwaki.methods._method import Context, Method, Moment
from niwaki.models.edits.share import PARTS
from niwaki.models.edits.share import Share as ShareEdit
from niwaki.models.model import Model


class Share(Method):
    groups: int | None = setting(None, "how many different layers stay; none takes half", ge=1)
    what: Literal["all", "attention", "ffn"] = setting("all", "which of their matrices are shared")
    choose: Literal["best", "first", "mean"] = setting(
        "best", "whose matrices a group takes: the layer's with which the loss is least, the first one's, or their mean"
    )
    batches: int = setting(8, "calibration batches that tell which is best", ge=1)

    saves: ClassVar[tuple[str, ...]] = ("file", "memory")

    def rehearse(self, model: Model, moment: Moment) -> Model:
        if moment == "prepare":
            model.operate(self._edit([group[0] for group in self._groups(model)], self._groups(model)))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        groups = self._groups(model)
        chosen = [group[0] for group in groups]
        if self.choose == "best":
            chosen = self._best(model, groups, context)
        elif self.choose == "mean":
            for group in groups:
                for part in PARTS[self.what]:
                    average([model.anatomy.layers[number].part(part) for number in group])
        model.operate(self._edit(chosen, groups))
        return model

    def _best(self, model: Model, groups: list[list[int]], context: Context) -> list[int]:
        """One group after the other, the others as chosen so far or as they were."""
        batches = list(context.calibration(model, self.batches))
        chosen: list[int] = []
        for place, group in enumerate(groups):
            alone = [[number] for later in groups[place + 1 :] for number in later]

            def loss(number: int, place: int = place, alone: list[list[int]] = alone) -> float:
                tried = model.clone()
                tried.operate(self._edit([*chosen, number, *(one[0] for one in alone)], [*groups[: place + 1], *alone]))
                return mean_loss(tried, batches, context)

            chosen.append(min(group, key=loss) if len(group) > 1 else group[0])
        return chosen

    def _edit(self, chosen: list[int], groups: list[list[int]]) -> ShareEdit:
        return ShareEdit(of=[one for one, group in zip(chosen, groups, strict=True) for _ in group], what=self.what)

    def _groups(self, model: Model) -> list[list[int]]:
        anatomy = model.anatomy
        anatomy.require_layers("share")
        depth = len(anatomy.layers)
        if depth < len(anatomy.order):
            raise Refused("share: this model shares its layers already; leave 'share' out")
        count = self.groups or (depth + 1) // 2
        if count >= depth:
            raise Refused(f"share: {count} groups of {depth} layers share nothing; take fewer, or leave 'share' out")
        matrices = [layer.part(part) for layer in anatomy.layers for part in PARTS[self.what]]
        if self.choose == "mean" and not all(isinstance(matrix, nn.Linear) for matrix in matrices):
            raise Refused("share: packed or factored matrices have no mean; choose = 'best' or 'first'")
        return groups_of(depth, count)


def groups_of(depth: int, count: int) -> list[list[int]]:
    """`depth` neighbours in `count` groups of like size: 5 in 2 are 0, 1, 2 and 3, 4."""
    return [[number for number in range(depth) if number * count // depth == group] for group in range(count)]


@torch.no_grad()
def average(matrices: list[nn.Linear]) -> None:
    """The first becomes the mean of all."""

    def mean(values: list[Tensor]) -> Tensor:
        return torch.stack(values).mean(dim=0)

    matrices[0].weight.copy_(mean([matrix.weight for matrix in matrices]))
    if matrices[0].bias is not None:
        matrices[0].bias.copy_(mean([matrix.bias for matrix in matrices]))
