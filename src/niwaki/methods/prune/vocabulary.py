"""Drops the token pieces a corpus does not use, from the embedding table and from the tokenizer.

Paper: Abdaoui, Pradel, Sigel 2020, Load What You Need (arXiv 2010.05609).
Cost: one pass of the tokenizer over the texts. Rare words then split into smaller pieces; none becomes unreadable.
"""

from typing import ClassVar

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Moment
from niwaki.models.edits.vocabulary import Vocabulary as VocabularyEdit
from niwaki.models.model import Model
from niwaki.models.tokens import trimmed, used_pieces


class Vocabulary(Method):
    min_count: int = setting(1, "a piece stays when the stage's texts use it at least so often", ge=1)

    saves: ClassVar[tuple[str, ...]] = ("file", "memory")

    def rehearse(self, model: Model, moment: Moment) -> Model:
        """How many pieces stay is not known before; one fewer stands for it."""
        if moment == "prepare":
            model.operate(VocabularyEdit(keep=max(1, model.anatomy.tokens.num_embeddings - 1)))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        keep = used_pieces(model.tokenizer.backend_tokenizer, context.texts(), self.min_count)
        model.tokenizer = trimmed(model.tokenizer, keep)
        model.operate(VocabularyEdit(keep=keep))
        return model
