"""Learning rates of single parameters: what the methods of a stage multiply the scheduled rate by."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from torch import nn

from niwaki.methods._method import LearningRateScale, Method, ScalesLearningRates, methods_with
from niwaki.models.model import Model

Scales = tuple[LearningRateScale, ...]  # of one parameter, one for each method that scales it
NO_SCALES: Mapping[nn.Parameter, Scales] = MappingProxyType({})


def lr_scales(methods: Iterable[Method], model: Model) -> dict[nn.Parameter, Scales]:
    """The scales of all parameters that methods scale."""
    parameters, found = dict(model.network.named_parameters()), dict[nn.Parameter, Scales]()
    for method in methods_with(methods, ScalesLearningRates):
        for name, scale in method.lr_scales(model).items():
            found[parameters[name]] = (*found.get(parameters[name], ()), scale)
    return found


def grouped_by_scales(
    parameters: Iterable[nn.Parameter], scales: Mapping[nn.Parameter, Scales]
) -> dict[Scales, list[nn.Parameter]]:
    """Parameters that always have the same learning rate, in the order of the first of each group."""
    groups: dict[Scales, list[nn.Parameter]] = {}
    for parameter in parameters:
        groups.setdefault(scales.get(parameter, ()), []).append(parameter)
    return groups


def lr_factor(scales: Scales, progress: float) -> float:
    """The product of the scales at a progress from 0 to 1."""
    return math.prod(scale(progress) if callable(scale) else scale for scale in scales)
