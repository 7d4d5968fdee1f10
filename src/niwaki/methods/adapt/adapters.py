"""Adapters: trains small feed-forward blocks with a bottleneck behind the frozen blocks of each layer.

An adapter adds up(activation(down(x))) to a block's output x, before dropout, residual connection and norm. Adapters are not linear, so they
stay in the model.

Paper: Houlsby et al. 2019, Parameter-Efficient Transfer Learning for NLP (arXiv 1902.00751), behind attention and feed-forward block; Pfeiffer et al. 2020,
AdapterFusion (arXiv 2005.00247), behind the feed-forward block alone.
Cost: two thin products for each adapter, also in the finished model. The native engine does not run adapters.
"""

from typing import Literal

from niwaki.core.settings import setting
from niwaki.methods.adapt._tuning import Tuning
from niwaki.models.deltas.adapter import Activation
from niwaki.models.edits.add_delta import AddDelta
from niwaki.models.model import Model

PLACES = {"houlsby": ["out", "ffn_out"], "pfeiffer": ["ffn_out"]}


class Adapters(Tuning):
    placement: Literal["houlsby", "pfeiffer"] = setting(
        "pfeiffer", "houlsby: behind attention and feed-forward block; pfeiffer: behind the feed-forward block"
    )
    reduction: float = setting(16.0, "hidden size divided by the size of the bottleneck", ge=1, le=4096)
    activation: Activation = setting("gelu", "activation in the bottleneck")

    def add(self, model: Model, seed: int) -> None:
        settings = {"reduction": self.reduction, "activation": self.activation}
        targets = PLACES[self.placement]
        model.apply_edit(AddDelta(kind="adapter", targets=targets, settings=settings, seed=seed))
