"""Leaves out the weights that training moves towards 0, whatever their size: what fine-tuning does not want goes first.

Every weight has a score that sinks when the loss would have the weight smaller. `hard` keeps the best scores, ever fewer of
them; `soft` keeps those above a threshold and presses all of them down: how many stay is then learnt, matrix by matrix.
In the paper scores begin at 0 and training is long; in a short one the first weights would go by chance, hence `prior`.

Paper: Sanh, Wolf, Rush 2020, Movement Pruning: Adaptive Sparsity by Fine-Tuning (arXiv 2005.07683).
Cost: a score for every weight, trained with it: a step takes a tenth longer, and half more memory. Saves bytes on disk alone.
"""

import math
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Penalizes
from niwaki.methods.prune._masks import (
    Gradual,
    Scope,
    cubic_sparsity,
    densify,
    parametrizations_of,
    reject_packed,
    sparsity_threshold,
    store_sparse,
    updates_due,
)
from niwaki.models.model import Model
from niwaki.models.parametrizations import add_parametrization


class Movement(Gradual, Penalizes):
    how: Literal["hard", "soft"] = setting("hard", "hard reaches `sparsity`; soft what `penalty_weight` leads to")
    sparsity: float = setting(0.5, "share of the weights of the encoder's matrices that go (hard)", gt=0, lt=1)
    scope: Scope = setting("global", "global compares all scores; layer takes the same share of every matrix (hard)")
    penalty_weight: float = setting(50.0, "weight of the mean score, from 0 to 1, in the loss (soft)", ge=0)
    threshold: float = setting(
        0.1, "score, from 0 to 1, below which a weight goes; they begin at 0.5 and above (soft)", gt=0, lt=0.5
    )
    speed: float = setting(200.0, "how many times faster than weights the scores move", gt=0)
    prior: float = setting(
        1.0,
        "scores begin with so many times the size of their weights, where the mean of a matrix is 1; 0 as in the paper",
        ge=0,
    )

    version = 2
    requires = replace(Gradual.requires, training=True)

    def dry_prepare(self, model: Model) -> Model:
        reject_packed(model, "movement")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        reject_packed(model, "movement")
        for module in densify(model, "movement").values():
            add_parametrization(module, Scored(module.weight, self.speed, self.prior))
        return model

    def penalty(self, model: Model) -> Tensor | None:
        if self.how == "hard":
            return None
        values = [lens.values() for _, _, lens in parametrizations_of(model, Scored)]
        total = sum((torch.sigmoid(value).sum() for value in values), values[0].new_zeros(()))
        return self.penalty_weight * total / sum(value.numel() for value in values)

    def after_step(self, model: Model, progress: float) -> None:
        found = [lens for _, _, lens in parametrizations_of(model, Scored)]
        if updates_due(progress) <= int(found[0].updates):
            return
        for lens, cut in zip(found, self._cuts(found, progress), strict=True):
            lens.cut.fill_(-math.inf if cut is None else cut)
            lens.updates.fill_(updates_due(progress))

    def _cuts(self, found: list["Scored"], progress: float) -> list[Any]:
        if self.how == "soft":
            share = cubic_sparsity(progress, self.begin, self.end, self.threshold)
            return [math.log(share / (1 - share)) if share else None] * len(found)
        share = cubic_sparsity(progress, self.begin, self.end, self.sparsity)
        values = [lens.values().detach().flatten() for lens in found]
        if self.scope == "layer":
            return [sparsity_threshold(value, share) for value in values]
        return [sparsity_threshold(torch.cat(values), share)] * len(found)

    def finish(self, model: Model) -> Model:
        return store_sparse(model)


class Scored(nn.Module):
    """A lens that shows the weights whose scores are above `cut`. Scores are kept divided by `speed`, because the optimizer
    moves every parameter by as much."""

    cut: Tensor
    updates: Tensor

    def __init__(self, weight: Tensor, speed: float, prior: float) -> None:
        super().__init__()
        self.speed = speed
        size = weight.detach().abs()
        self.scores = nn.Parameter(prior * size / size.mean().clamp(min=1e-12) / speed)
        self.register_buffer("cut", torch.tensor(-math.inf))
        self.register_buffer("updates", torch.zeros((), dtype=torch.int64))

    def values(self) -> Tensor:
        """The scores. Their slope in the parameter is taken as 1, so that `speed` does not lengthen the gradient that is
        clipped; to the optimizer its length means nothing."""
        return self.scores + (self.speed - 1) * self.scores.detach()

    def forward(self, weight: Tensor) -> Tensor:
        return Straight.apply(weight, self.scores, self.scores.detach() * self.speed > self.cut)


class Straight(torch.autograd.Function):
    """Weights that are kept. The gradient of a score is what it would be if it multiplied its weight."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, scores: Tensor, kept: Tensor) -> Tensor:
        ctx.save_for_backward(weight, kept)
        return weight * kept

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        weight, kept = ctx.saved_tensors
        return gradients[0] * kept, gradients[0] * weight, None
