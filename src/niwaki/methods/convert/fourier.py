"""Replaces attention by Fourier mixing, which has no parameters and needs about half the operations.

A pretrained encoder loses what its attention knew, so the layers must be trained again: distil from the model before the conversion. The last layers keep their
attention by default (hybrid FNet), because tasks need it most there.
Paper: Lee-Thorp et al. 2021, FNet: Mixing Tokens with Fourier Transforms (arXiv 2105.03824).
Cost: none; training recovers the score.
"""

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.convert._attention_layers import attention_layers
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.model import Model


class Fourier(Method, Reshapes):
    attention_layers: int = setting(2, "number of last layers that keep their attention", ge=0)

    requires = Requirements(training=True, reduces=("file", "memory", "flops"))

    def dry_prepare(self, model: Model) -> Model:
        model.anatomy.require_layers("fourier")
        count = len(model.anatomy.layers) - self.attention_layers
        if count < 1:
            raise InputError(
                f"fourier: attention_layers is {self.attention_layers} and the model has {len(model.anatomy.layers)} layers, so none is left to convert"
            )
        layers = attention_layers(model, count, "fourier")
        model.apply_edit(ReplacePart(slot="mixer", part="fourier", layers=[*layers]))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)
