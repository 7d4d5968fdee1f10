"""Leaves the embeddings, or some of the first layers too, as they are: less to train, less to move.

Paper: Lee, Tang, Lin 2019, What Would Elsa Do? Freezing Layers During Transformer Fine-Tuning (arXiv 1911.03090).
Cost: none; a step gets cheaper.
"""

from typing import ClassVar

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Moment
from niwaki.models.model import Model


class Freeze(Method):
    layers: int = setting(0, "how many of the first layers are frozen with the embeddings", ge=0)

    needs_training: ClassVar[bool] = True

    def dry_run(self, model: Model, moment: Moment) -> Model:
        have = len(model.anatomy.layers)
        if moment == "prepare" and self.layers > have:
            raise InputError(f"freeze: layers is {self.layers} and the model has {have}")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        anatomy = self.dry_run(model, "prepare").anatomy
        for module in anatomy.embeddings:
            module.requires_grad_(False)
        for layer in anatomy.layers[: self.layers]:
            layer.module.requires_grad_(False)
        return model

    def finish(self, model: Model) -> Model:
        for parameter in model.network.parameters():
            parameter.requires_grad_(True)
        return model
