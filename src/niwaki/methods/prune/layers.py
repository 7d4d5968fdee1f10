"""Removes whole layers: keeps evenly spaced ones, or those whose removal increases the loss most.

Paper: Sajjad et al. 2023, On the Effect of Dropping Layers of Pre-trained Transformer Models (arXiv 2004.03844); `worth` tries each
layer on calibration batches instead of following a rule.
Cost: `worth` runs the batches once for every remaining layer and every removed layer; `spread` costs nothing.
"""

from niwaki.methods._layer_choice import has_distinct_layers
from niwaki.methods.prune._depth import Depth
from niwaki.models.edits.layers import Layers as LayersEdit
from niwaki.models.model import Model


class Layers(Depth):
    def depth(self, model: Model) -> int:
        model.anatomy.require_layers("layers")
        return len(model.anatomy.order)

    def edit(self, keep: list[int] | int) -> LayersEdit:
        return LayersEdit(keep=keep)

    def layers_differ(self, model: Model) -> bool:
        return has_distinct_layers(model)
