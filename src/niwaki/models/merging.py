"""Merging of models that were tuned from the same one: weighted average, task arithmetic, TIES.

Papers: Ilharco et al. 2023, Editing Models with Task Arithmetic (arXiv 2212.04089); Yadav et al. 2023, TIES-Merging (arXiv 2306.01708).
A task vector is what tuning added to the start model's weights.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

Weights = Mapping[str, Tensor]


def average(models: Sequence[Weights], weights: Sequence[float]) -> dict[str, Tensor]:
    """Σ wᵢ θᵢ / Σ wᵢ. Tensors that are no floats, such as positions, are those of the first."""
    total = sum(weights)
    return {
        name: sum((one[name] * (weight / total) for one, weight in zip(models, weights, strict=True)), 0 * value)
        if value.is_floating_point()
        else value
        for name, value in models[0].items()
    }


def task_arithmetic(base: Weights, models: Sequence[Weights], weights: Sequence[float]) -> dict[str, Tensor]:
    """θ₀ + Σ wᵢ (θᵢ − θ₀)."""
    return {
        name: sum(((one[name] - value) * weight for one, weight in zip(models, weights, strict=True)), value)
        if value.is_floating_point()
        else value
        for name, value in base.items()
    }


def ties(
    base: Weights, models: Sequence[Weights], weights: Sequence[float], density: float = 0.2, scale: float = 1.0
) -> dict[str, Tensor]:
    """θ₀ + scale · τ. Each task vector keeps its largest numbers (a share of `density` over all tensors); for each place the sign with the
    larger total wins; τ is the weighted mean of the numbers that have this sign."""
    names = [name for name, value in base.items() if value.is_floating_point()]
    vectors = [trimmed({name: one[name] - base[name] for name in names}, density) for one in models]
    found = dict(base)
    for name in names:
        stacked = torch.stack([vector[name] for vector in vectors])  # (models, …)
        factors = torch.tensor(list(weights), dtype=stacked.dtype).view(-1, *[1] * (stacked.ndim - 1))
        found[name] = base[name] + scale * agreeing_mean(stacked, factors)
    return found


def trimmed(vector: Weights, density: float) -> dict[str, Tensor]:
    """The largest numbers of a task vector by magnitude, 0 elsewhere."""
    sizes = torch.cat([value.abs().flatten() for value in vector.values()])
    kept = max(1, round(density * len(sizes)))
    if kept >= len(sizes):
        return dict(vector)
    threshold = torch.kthvalue(sizes, len(sizes) - kept + 1).values
    return {name: torch.where(value.abs() >= threshold, value, 0.0) for name, value in vector.items()}


def agreeing_mean(stacked: Tensor, factors: Tensor) -> Tensor:
    """(models, …) to (…): the weighted mean of the numbers with the sign of the weighted sum; 0 where there are none."""
    agree = (stacked.sign() == (stacked * factors).sum(dim=0).sign()) & (stacked != 0)
    total = (factors * agree).sum(dim=0)
    return (stacked * factors * agree).sum(dim=0) / total.where(total > 0, torch.ones_like(total))
