"""Removes the weights that training moves towards 0, whatever their magnitude: those that fine-tuning needs least.

Every weight has a score that decreases when the gradient moves the weight towards 0. `hard` keeps the highest scores, fewer and fewer
of them; `soft` keeps scores above a threshold and penalizes all of them, so that the sparsity of each matrix is learned. In the paper
scores start at 0 and training is long; in a short training the first weights would be removed at random, hence `prior`.

Paper: Sanh, Wolf, Rush 2020, Movement Pruning: Adaptive Sparsity by Fine-Tuning (arXiv 2005.07683).
Cost: a trained score for every weight: a step takes 10 % longer and 50 % more memory. Saves bytes on disk only.
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
from niwaki.models.forward import Outputs
from niwaki.models.model import Model
from niwaki.models.parametrizations import add_parametrization


class Movement(Gradual, Penalizes):
    how: Literal["hard", "soft"] = setting("hard", "hard reaches `sparsity`; soft depends on `penalty_weight`")
    sparsity: float = setting(0.5, "fraction of the matrices' weights to remove (hard)", gt=0, lt=1)
    scope: Scope = setting(
        "global", "global compares all scores; layer prunes the same fraction of every matrix (hard)"
    )
    penalty_weight: float = setting(50.0, "weight of the mean score, after sigmoid, in the loss (soft)", ge=0)
    threshold: float = setting(
        0.1, "score, after sigmoid, below which a weight is removed; scores start at 0.5 or above (soft)", gt=0, lt=0.5
    )
    speed: float = setting(200.0, "learning rate of the scores, relative to the weights", gt=0)
    prior: float = setting(
        1.0,
        "initial scores: this times the weights' magnitudes, which have mean 1 in each matrix; 0 as in the paper",
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

    def penalty(self, model: Model, outputs: Outputs) -> Tensor | None:
        if self.how == "hard":
            return None
        values = [scored.values() for _, _, scored in parametrizations_of(model, Scored)]
        total = sum((torch.sigmoid(value).sum() for value in values), values[0].new_zeros(()))
        return self.penalty_weight * total / sum(value.numel() for value in values)

    def after_step(self, model: Model, progress: float) -> None:
        found = [scored for _, _, scored in parametrizations_of(model, Scored)]
        if updates_due(progress) <= int(found[0].updates):
            return
        for scored, cut in zip(found, self._cuts(found, progress), strict=True):
            scored.cut.fill_(-math.inf if cut is None else cut)
            scored.updates.fill_(updates_due(progress))

    def _cuts(self, found: list["Scored"], progress: float) -> list[Any]:
        if self.how == "soft":
            share = cubic_sparsity(progress, self.begin, self.end, self.threshold)
            return [math.log(share / (1 - share)) if share else None] * len(found)
        share = cubic_sparsity(progress, self.begin, self.end, self.sparsity)
        values = [scored.values().detach().flatten() for scored in found]
        if self.scope == "layer":
            return [sparsity_threshold(value, share) for value in values]
        return [sparsity_threshold(torch.cat(values), share)] * len(found)

    def finish(self, model: Model) -> Model:
        return store_sparse(model)


class Scored(nn.Module):
    """A parametrization that masks the weights whose scores are not above `cut`. Scores are stored divided by `speed`, because the
    optimizer moves every parameter by the same amount."""

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
        """The scores. Their gradient is not scaled by `speed`, so that clipping is unaffected; Adam ignores its scale."""
        return self.scores + (self.speed - 1) * self.scores.detach()

    def forward(self, weight: Tensor) -> Tensor:
        return Straight.apply(weight, self.scores, self.scores.detach() * self.speed > self.cut)


class Straight(torch.autograd.Function):
    """Masked weights with a straight-through gradient: that of a score is as if it multiplied its weight."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, scores: Tensor, remaining: Tensor) -> Tensor:
        ctx.save_for_backward(weight, remaining)
        return weight * remaining

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        weight, remaining = ctx.saved_tensors
        return gradients[0] * remaining, gradients[0] * weight, None
