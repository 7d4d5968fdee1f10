"""Drops the tokens that get the least attention, layer by layer, so that later layers compute on fewer tokens.

In each layer but the last a token's attention is summed over all heads and tokens; the tokens with the largest sums go on, in their order, and the first token always does. Each layer
keeps the same share of the tokens that it gets. Tokens really leave: their rows are neither computed nor stored. Train afterwards with the original model as the teacher.
Paper: Goyal et al. 2020, PoWER-BERT: Accelerating BERT Inference via Progressive Word-vector Elimination (arXiv 2001.08950). There the shares are learned; here `keep` fixes them.
Cost: none. The native engine does not have the part.
"""

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.convert._shortening import put_reduction, shortening_layers
from niwaki.models.model import Model


class TokenDropping(Method, Reshapes):
    keep: float = setting(0.3, "share of a text's tokens that reach the last layer", gt=0, lt=1)
    min_tokens: int = setting(32, "tokens of a text that stay at least, so that short texts lose none", ge=1, le=65_536)

    requires = Requirements(reduces=("flops", "time"))

    def dry_prepare(self, model: Model) -> Model:
        layers = shortening_layers(model, "token_dropping")
        depth = len(model.anatomy.order)
        if depth < 2:
            raise InputError("token_dropping: a model of one layer has no later layers that could save anything")
        dropping = range(len(layers) - 1) if len(layers) == depth else range(len(layers))
        for number in dropping:
            if not layers[number].mixer.shows_attention:
                raise InputError(
                    f"token_dropping: mixer '{layers[number].mixer.label()}' of layer {number} shows no attention; name 'token_dropping' alone, or 'token_pooling'"
                )
        share = self.keep ** (1 / (depth - 1))
        put_reduction(model, dropping, "top_tokens", {"share": share, "min_tokens": self.min_tokens})
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)
