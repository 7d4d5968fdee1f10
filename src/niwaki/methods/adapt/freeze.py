"""Freezes the embeddings, and optionally the first layers: fewer parameters to train.

Paper: Lee, Tang, Lin 2019, What Would Elsa Do? Freezing Layers During Transformer Fine-Tuning (arXiv 1911.03090).
Cost: none; a step gets cheaper.
"""

from itertools import chain

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Context, Method, Requirements, Reshapes
from niwaki.models.depths import depths
from niwaki.models.model import Model


class Freeze(Method, Reshapes, Bakes):
    layers: int = setting(0, "number of first layers to freeze, besides the embeddings", ge=0)

    requires = Requirements(training=True)

    def dry_prepare(self, model: Model) -> Model:
        have = len(depths(model.anatomy))
        if self.layers > have:
            raise InputError(f"freeze: layers is {self.layers} and the model has {have}")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        anatomy = self.dry_prepare(model).anatomy
        for module in anatomy.inputs.modules:
            module.requires_grad_(False)
        for module in chain.from_iterable(depths(anatomy)[: self.layers]):
            module.requires_grad_(False)
        return model

    def finish(self, model: Model) -> Model:
        for parameter in model.network.parameters():
            parameter.requires_grad_(True)
        return model
