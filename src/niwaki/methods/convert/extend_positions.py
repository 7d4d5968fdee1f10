"""Lets a model read longer texts: the vectors of its positions are copied, over and over, until there are enough.

Texts that fitted before get the same answers. Behind that, each stretch of the text looks like the beginning until the stage trains on long texts: set `data.max_tokens`. Models with
rotary or relative positions (ModernBERT, RoFormer, DeBERTa) have no such vectors; their limit is raised. Combine it with `window`, because attention to all tokens grows with the square
of the length.
Paper: Beltagy, Peters, Cohan 2020, Longformer: The Long-Document Transformer (arXiv 2004.05150).
Cost: none.
"""

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.positions import Positions
from niwaki.models.model import Model
from niwaki.models.value_rules import MOST_POSITIONS


class ExtendPositions(Method, Reshapes):
    tokens: int = setting(4096, "tokens that the model can read", ge=8, le=MOST_POSITIONS)

    requires = Requirements(adds_parameters=True)

    def dry_prepare(self, model: Model) -> Model:
        model.apply_edit(Positions(tokens=self.tokens))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)
