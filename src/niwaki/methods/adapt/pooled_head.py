"""Classifies from the pooled hidden states of all tokens, as the checkpoint pools them, instead of from the first token.

Encoders that were trained for sentence embeddings say in modules.json how they pool, mostly by the mean of all tokens. Their first token was never
trained to represent a text. By default, models that pool by their first token and heads for tokens stay as they are.
Paper: Reimers, Gurevych 2019, Sentence-BERT (arXiv 1908.10084).
Cost: by default a dense layer as in BERT's own head; the last layer computes all tokens.
"""

from typing import Literal

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.model import Model
from niwaki.models.parts.heads.classification import Classification
from niwaki.models.sentence_modules import pooling_of_network


class PooledHead(Method, Reshapes):
    mode: Literal["auto", "cls", "mean", "max", "mean_sqrt_len_tokens"] = setting(
        "auto", "how tokens are pooled; auto takes what the checkpoint says"
    )
    dense: bool = setting(True, "whether a dense layer with tanh comes before the last matrix")
    dropout: float = setting(0.1, "share of numbers dropped before each matrix while training", ge=0, lt=1)

    requires = Requirements(training=True)

    @property
    def resets_head(self) -> bool:
        return True

    def dry_prepare(self, model: Model) -> Model:
        fits = isinstance(model.anatomy.head, Classification) and bool(model.anatomy.layers)
        if not fits and self.mode != "auto":
            raise InputError("pooled_head: it replaces heads that read an encoder's first token; leave it out")
        mode = pooling_of_network(model.network).mode if self.mode == "auto" else self.mode
        if fits and mode != "cls":
            settings = {"mode": mode, "normalize": False, "dense": self.dense, "dropout": self.dropout}
            model.apply_edit(ReplacePart(slot="head", part="pooled", settings=settings))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)
