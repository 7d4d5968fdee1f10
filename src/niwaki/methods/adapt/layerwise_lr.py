"""Layer-wise learning rates: each layer learns more slowly than the one above it, the embeddings most slowly.

Lower layers hold more general features, which few training rows should change less. The head keeps the learning rate of the train block.
Paper: Howard, Ruder 2018, Universal Language Model Fine-tuning for Text Classification (arXiv 1801.06146).
Cost: none.
"""

from collections.abc import Mapping

from torch import nn

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes, ScalesLearningRates
from niwaki.models.anatomy import Anatomy
from niwaki.models.depths import depths, require_depths
from niwaki.models.model import Model


class LayerwiseLr(Method, Reshapes, ScalesLearningRates):
    decay: float = setting(0.9, "learning rate of a layer as a share of that of the layer above it", gt=0, lt=1)

    requires = Requirements(training=True)

    def dry_prepare(self, model: Model) -> Model:
        require_depths(model.anatomy, "layerwise_lr")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)

    def lr_scales(self, model: Model) -> Mapping[str, float]:
        below = depths_below_head(model.anatomy)
        found = {id(parameter): self.decay**depth for module, depth in below for parameter in module.parameters()}
        return {name: found[id(one)] for name, one in model.network.named_parameters() if id(one) in found}


def depths_below_head(anatomy: Anatomy) -> list[tuple[nn.Module, int]]:
    """Modules with their distance from the head: the last layer 1, the first one N, the embeddings N + 1. In an encoder-decoder, both
    stacks count from their last layer. A parameter in several modules, such as a tied embedding, has the depth of the last."""
    stacks = [[[parts[0].module] for parts in stack] for stack in anatomy.stacks.values() if stack] or [depths(anatomy)]
    found = [(one, depth) for stack in stacks for depth, modules in enumerate(reversed(stack), 1) for one in modules]
    lowest = 1 + max(map(len, stacks))
    if anatomy.family.relative is not None:
        found.append((anatomy.trunk.get_submodule(anatomy.family.relative.table), lowest))
    return [*found, *((module, lowest) for module in anatomy.inputs.modules)]
