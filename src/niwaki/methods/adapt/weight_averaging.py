"""Weight averaging: validates and saves the mean of the weights over the last steps instead of the last weights.

With `decay` below 1 it is an exponential moving average, which forgets the first steps. Before `start` the trained weights are validated.
Paper: Izmailov et al. 2018, Averaging Weights Leads to Wider Optima and Better Generalization (arXiv 1803.05407).
Cost: a pass over the weights in every step, and a copy of them in memory and in checkpoints.
"""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from niwaki.core.settings import setting
from niwaki.methods._method import AveragesWeights, Method, Requirements, Schedules
from niwaki.models.model import Model


class WeightAveraging(Method, Schedules, AveragesWeights):
    start: float = setting(0.5, "progress from which on weights are averaged; 0 averages all steps", ge=0, lt=1)
    decay: float = setting(
        1.0, "weight of the average so far in every step (exponential moving average); 1 is the mean of all", gt=0, le=1
    )

    requires = Requirements(training=True)

    def track(self, model: Model) -> None:
        self._helpers = Averages(trained_parameters(model).values())

    def after_step(self, model: Model, progress: float) -> None:
        if progress > self.start:
            self._averages.add(trained_parameters(model).values(), self.decay)

    def averages(self, model: Model) -> Mapping[str, Tensor]:
        have = int(self._averages.count) > 0
        return dict(zip(trained_parameters(model), self._averages.values(), strict=True)) if have else {}

    @property
    def _averages(self) -> "Averages":
        assert isinstance(self._helpers, Averages)  # `track`
        return self._helpers


def trained_parameters(model: Model) -> dict[str, nn.Parameter]:
    return {name: value for name, value in model.network.named_parameters() if value.requires_grad}


class Averages(nn.Module):
    """Averages of tensors, as buffers so that checkpoints contain them."""

    count: Tensor

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))  # of added sets
        self.each = nn.Module()
        for number, tensor in enumerate(tensors):
            self.each.register_buffer(str(number), tensor.detach().clone())

    @torch.no_grad()
    def add(self, tensors: Iterable[Tensor], decay: float) -> None:
        """The first 1 / (1 - decay) sets count alike; later the older ones fade."""
        self.count += 1
        share = max(1.0 / int(self.count), 1.0 - decay)
        for average, tensor in zip(self.values(), tensors, strict=True):
            average.lerp_(tensor, share)

    def values(self) -> list[Tensor]:
        return [*self.each.buffers()]
