"""Turns each feed-forward block into smaller experts that share its most important neurons; the least important ones are dropped.

How important a neuron is, is measured on calibration rows. The shared neurons are computed for every token; the next ones are dealt out to the experts in turn, so
that experts are equally good. A token costs `keep` of the dense block. Train afterwards with a teacher.
Paper: Zuo et al. 2022, MoEBERT: from BERT to Mixture-of-Experts via Importance-Guided Adaptation (arXiv 2204.07675); there, tokens are spread by a hash.
Cost: calibration batches forward and backward.
"""

from itertools import accumulate

from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Requirements
from niwaki.methods.convert._experts import DenseBlock, Neurons, ToExperts, new_router, split
from niwaki.models.edits.replace_part import Value
from niwaki.models.importance import importance
from niwaki.models.model import Model
from niwaki.models.record import ROUTING


class Moebert(ToExperts):
    experts: int = setting(4, "number of experts of each layer", ge=2, le=1024)
    active: int = setting(1, "experts that each token goes through", ge=1, le=1024)
    keep: float = setting(0.25, "share of a block's neurons that each token goes through", gt=0, lt=1)
    shared: float = setting(0.5, "share of these that is the same for all tokens", ge=0, lt=1)
    batches: int = setting(16, "calibration batches to measure importance on", ge=1)

    requires = Requirements(
        training=True, activations=frozenset({ROUTING}), adds_parameters=False, reduces=("file", "flops")
    )

    def dry_prepare(self, model: Model) -> Model:
        for number, layer in self.dense_layers(model).items():
            shared, own = self._sizes(layer.ffn_size, number)
            settings: dict[str, Value] = {"weights": "sum", "shared": shared}
            self.replace(model, {number: self.experts * own}, settings)
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        layers = self.dense_layers(model)
        worth = importance(model, context.calibration(model, self.batches), context.loss).neurons
        ahead = accumulate([len(layer.feed_forward.blocks("")) for layer in model.anatomy.layers], initial=0)
        own_worth = {number: worth[place] for number, place in enumerate(ahead) if number in layers}
        blocks = {number: DenseBlock.of(layer) for number, layer in layers.items()}
        self.dry_prepare(model)
        for number, block in blocks.items():
            part = model.anatomy.layers[number].feed_forward
            shared, own = self._sizes(block.first.out_features, number)
            weights = self.active + (shared > 0)
            split(block, dealt(own_worth[number], shared, own, self.experts), part, total=weights)
            new_router(part.router, context.seed, number)
        return model

    def _sizes(self, neurons: int, layer: int) -> tuple[int, int]:
        """How many neurons are shared, and how many each expert has."""
        every = max(2, round(self.keep * neurons))
        shared = min(round(self.shared * every), every - self.active)
        own = (every - shared) // self.active
        if own < 1 or shared < 0 or shared + self.experts * own > neurons:
            raise InputError(
                f"moebert: layer {layer} has {neurons} neurons, too few for {self.experts} experts that keep {self.keep:g} each; lower experts or keep"
            )
        return shared, own


def dealt(worth: Tensor, shared: int, own: int, experts: int) -> Neurons:
    """Neurons of each expert, and behind them the shared ones, by importance (neurons,)."""
    order = worth.argsort(descending=True, stable=True).tolist()
    rest = order[shared : shared + own * experts]
    each = [sorted(rest[number::experts]) for number in range(experts)]
    return [*each, sorted(order[:shared])] if shared else each
