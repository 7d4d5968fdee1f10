"""Drops the token pieces a corpus does not use, from the embedding table and from the tokenizer.

Paper: Abdaoui, Pradel, Sigel 2020, Load What You Need (arXiv 2010.05609).
Cost: one pass of the tokenizer over the texts. Rare words then split into smaller pieces; none becomes unreadable.
"""

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.vocabulary import Vocabulary as VocabularyEdit
from niwaki.models.model import Model
from niwaki.tokenization.trimming import trimmed, used_tokens


class Vocabulary(Method, Reshapes):
    min_count: int = setting(1, "a piece stays when the stage's texts use it at least so often", ge=1)

    requires = Requirements(reduces=("file", "memory"))

    def dry_prepare(self, model: Model) -> Model:
        """How many pieces stay is not known before; one fewer stands for it."""
        model.apply_edit(VocabularyEdit(keep=max(1, model.anatomy.tokens.num_embeddings - 1)))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        keep = used_tokens(model.tokenizer.backend_tokenizer, context.texts(), self.min_count)
        model.tokenizer = trimmed(model.tokenizer, keep)
        model.apply_edit(VocabularyEdit(keep=keep))
        return model
