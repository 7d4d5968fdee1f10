"""Classifies pairs of texts from the embeddings of both texts (a bi-encoder) instead of reading them as one sequence (a cross-encoder).

Suits similarity and paraphrases, for which sentence encoders were trained: the head starts from what their embeddings know. Where the words of both texts must be
compared, as in inference, a cross-encoder is better. Tasks on single texts are rejected.
Paper: Reimers, Gurevych 2019, Sentence-BERT (arXiv 1908.10084).
Cost: about that of a cross-encoder; embeddings of texts that occur again can be reused.
"""

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.model import Model
from niwaki.models.pairs import separate_texts
from niwaki.models.sentence_modules import pooling_of_network


class PairHead(Method, Reshapes):
    dropout: float = setting(0.0, "share of the head's features dropped while training", ge=0, lt=1)

    requires = Requirements(training=True, pairs=True)

    @property
    def resets_head(self) -> bool:
        return True

    def dry_prepare(self, model: Model) -> Model:
        model.anatomy.require_layers("pair_head")
        if (
            model.anatomy.is_seq2seq
            or model.anatomy.per_token
            or model.anatomy.head.architecture != "SequenceClassification"
        ):
            raise InputError(
                "pair_head: it predicts labels or a number for a pair of texts; leave it out for other tasks"
            )
        mode = pooling_of_network(model.network).mode
        model.apply_edit(ReplacePart(slot="head", part="pair", settings={"mode": mode, "dropout": self.dropout}))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        model = self.dry_prepare(model)
        separate_texts(model.tokenizer)
        return model
