"""Copies each feed-forward block into several experts, so that the model has more parameters at the same cost for a token.

All experts begin as the dense block and a new router spreads the tokens, so the model begins with the answers that it had. Training makes the experts different.
Paper: Komatsuzaki et al. 2023, Sparse Upcycling: Training Mixture-of-Experts from Dense Checkpoints (arXiv 2212.05055).
Cost: a file as many times larger as there are experts, but for attention and embeddings; a token costs as much as before with active = 1.
"""

import torch

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Requirements
from niwaki.methods.convert._experts import DenseBlock, ToExperts, new_router, split
from niwaki.models.model import Model
from niwaki.models.record import ROUTING


class SparseUpcycling(ToExperts):
    experts: int = setting(4, "copies of each block", ge=2, le=64)
    active: int = setting(1, "experts that each token goes through", ge=1, le=64)

    requires = Requirements(training=True, activations=frozenset({ROUTING}), adds_parameters=True)

    def dry_prepare(self, model: Model) -> Model:
        layers = self.dense_layers(model)
        sizes = {number: self.experts * layer.ffn_size for number, layer in layers.items()}
        self.replace(model, sizes, {"weights": "mean"})
        return model

    @torch.no_grad()
    def prepare(self, model: Model, context: Context) -> Model:
        blocks = {number: DenseBlock.of(layer) for number, layer in self.dense_layers(model).items()}
        self.dry_prepare(model)
        for number, block in blocks.items():
            part = model.anatomy.layers[number].feed_forward
            split(block, [range(block.first.out_features)] * self.experts, part, total=1)
            new_router(part.router, context.seed, number)
        return model
