"""Replaces attention by learned linear mixing: a matrix over tokens and one over hidden states, the same for every text.

As `fourier`, but the matrices are learned, and texts have a maximum length: that of the model, or `tokens`. A pretrained encoder loses what its attention knew, so the layers must be
trained again: distil from the model before the conversion. The last layers keep their attention by default.
Paper: Lee-Thorp et al. 2021, FNet: Mixing Tokens with Fourier Transforms (arXiv 2105.03824), where it is the variant "linear".
Cost: none; training recovers the score. The native engine does not have the part.
"""

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.convert._attention_layers import attention_layers
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.model import Model


class LinearMixing(Method, Reshapes):
    attention_layers: int = setting(2, "number of last layers that keep their attention", ge=0)
    tokens: int = setting(0, "tokens of the longest text; 0 takes as many as the model reads", ge=0, le=65_536)

    requires = Requirements(training=True, reduces=("file", "flops"))

    def dry_prepare(self, model: Model) -> Model:
        anatomy = model.anatomy
        anatomy.require_layers("linear_mixing")
        if anatomy.is_causal:
            raise InputError("linear_mixing: a causal model attends to earlier tokens alone; take 'window'")
        count = len(anatomy.layers) - self.attention_layers
        if count < 1:
            raise InputError(
                f"linear_mixing: attention_layers is {self.attention_layers} and the model has {len(anatomy.layers)} layers, so none is left to convert"
            )
        tokens = self.tokens or anatomy.max_tokens
        if tokens > 65_536:
            raise InputError("linear_mixing: this model reads texts of any length; set tokens to that of the longest")
        layers = attention_layers(model, count, "linear_mixing")
        model.apply_edit(
            ReplacePart(slot="mixer", part="linear_mixing", layers=[*layers], settings={"tokens": tokens}, seed=0)
        )
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)
