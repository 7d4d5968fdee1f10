"""Unfreezes a model from the head down, one layer after the other, so that the first steps of a new head do not spoil what lies below.

At first the head is trained alone. The last layer follows, then the one below it, the embeddings at last; from `until` on everything is trained.
Frozen parameters have a learning rate of 0; their gradients are computed, so a step costs the same and the optimizer knows their size.

Paper: Howard, Ruder 2018, Universal Language Model Fine-tuning for Text Classification (arXiv 1801.06146).
Cost: none.
"""

from collections.abc import Callable, Mapping

from niwaki.core.settings import setting
from niwaki.methods._method import (
    Context,
    LearningRateScale,
    Method,
    Requirements,
    Reshapes,
    ScalesLearningRates,
)
from niwaki.methods.adapt.layerwise_lr import depths_below_head
from niwaki.models.depths import require_depths
from niwaki.models.model import Model


class GradualUnfreezing(Method, Reshapes, ScalesLearningRates):
    until: float = setting(0.5, "share of the training after which everything is trained", gt=0, le=1)

    requires = Requirements(training=True)

    def dry_prepare(self, model: Model) -> Model:
        require_depths(model.anatomy, "gradual_unfreezing")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)

    def lr_scales(self, model: Model) -> Mapping[str, LearningRateScale]:
        below = depths_below_head(model.anatomy)
        lowest = max(depth for _, depth in below)
        switches = [trained_from(self.until * depth / lowest) for depth in range(lowest + 1)]
        found = {id(one): switches[depth] for module, depth in below for one in module.parameters()}
        return {name: found[id(one)] for name, one in model.network.named_parameters() if id(one) in found}


def trained_from(start: float) -> Callable[[float], float]:
    """A learning-rate factor: 0 before a progress, 1 from it on."""
    return lambda progress: float(progress >= start)
