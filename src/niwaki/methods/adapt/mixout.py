"""Mixout: in every training step, random weights return to their values before fine-tuning.

Dropout replaces activations by 0; mixout replaces single weights of the matrices by those that the stage started with, so that training stays near
them. Evaluation and the saved model use the trained weights.
Paper: Lee, Cho, Kang 2020, Mixout: Effective Regularization to Finetune Large-scale Pretrained Language Models (arXiv 1909.11299).
Cost: a random number for each weight in every step, and a copy of the matrices in memory.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Context, Method, Requirements, Reshapes
from niwaki.models.model import Model
from niwaki.models.module_paths import unique_modules
from niwaki.models.parametrizations import add_parametrization, find_parametrizations


class Mixout(Method, Reshapes, Bakes):
    probability: float = setting(0.7, "share of the weights that return to their first values in a step", gt=0, lt=1)

    requires = Requirements(training=True, pins_modules=True)

    def dry_prepare(self, model: Model) -> Model:
        self._matrices(model)
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        for module in self._matrices(model):
            add_parametrization(module, Mixed(module.weight, self.probability))
        return model

    def _matrices(self, model: Model) -> list[nn.Linear]:
        found = unique_modules(model.network, model.anatomy.matrices()).values()
        matrices = [module for module in found if isinstance(module, nn.Linear)]
        if not matrices:
            raise InputError("mixout: this model has no matrices of floats to train; leave 'mixout' out")
        return matrices

    def finish(self, model: Model) -> Model:
        paths = unique_modules(model.network, model.anatomy.matrices())
        for _, module, mixed in [*find_parametrizations(model.network, paths, Mixed)]:
            remove(module, mixed)
        return model


class Mixed(nn.Module):
    """A parametrization that mixes a weight with its first value. It does so only in training passes: what methods read between steps,
    without gradients, is the trained weight."""

    first: Tensor

    def __init__(self, weight: Tensor, probability: float) -> None:
        super().__init__()
        self.probability = probability
        self.register_buffer("first", weight.detach().clone())
        self.eval()  # the loop sets training

    def forward(self, weight: Tensor) -> Tensor:
        if not (self.training and torch.is_grad_enabled()):
            return weight
        return mix(weight, self.first, torch.rand_like(weight) < self.probability, self.probability)


def mix(weight: Tensor, first: Tensor, returned: Tensor, probability: float) -> Tensor:
    """Weights with their first values where `returned`, scaled around these so that the mean over all masks is `weight`."""
    return first + (weight - first).masked_fill(returned, 0.0) / (1 - probability)


def remove(module: Any, parametrization: nn.Module) -> None:
    """Take one parametrization that leaves the weight as it is from a module."""
    parametrizations = module.parametrizations.weight
    if len(parametrizations) == 1:
        parametrize.remove_parametrizations(module, "weight", leave_parametrized=False)
    else:
        del parametrizations[[*parametrizations].index(parametrization)]
