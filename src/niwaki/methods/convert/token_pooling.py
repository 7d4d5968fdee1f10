"""Halves texts between layers: each two neighbouring tokens become their mean, so that later layers compute on half as many.

The first token stays as it is. Tokens are pooled behind the attention of a layer, whose feed-forward block already sees the shorter text. Train afterwards with the original model as
the teacher.
Paper: Dai et al. 2020, Funnel-Transformer: Filtering out Sequential Redundancy for Efficient Language Processing (arXiv 2006.03236), without its decoder.
Cost: none. The native engine does not have the part.
"""

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.convert._shortening import put_reduction, shortening_layers
from niwaki.models.edit import resolve_indices
from niwaki.models.model import Model


class TokenPooling(Method, Reshapes):
    layers: list[int] = setting([], "layers that halve the text; none takes the one in the middle")

    requires = Requirements(training=True, reduces=("flops", "time"))

    def dry_prepare(self, model: Model) -> Model:
        count = len(shortening_layers(model, "token_pooling"))
        if count != len(model.anatomy.order):
            raise InputError("token_pooling: the layers of this model are shared, and each would halve the text again")
        chosen = resolve_indices(self.layers or [(count - 1) // 2], count, "token_pooling: layers")
        put_reduction(model, chosen, "token_pairs", {})
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)
