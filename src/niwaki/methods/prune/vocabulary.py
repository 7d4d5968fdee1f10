"""Removes tokens that the texts do not use, from the embedding table and from the tokenizer.

Paper: Abdaoui, Pradel, Sigel 2020, Load What You Need (arXiv 2010.05609).
Cost: one pass of the tokenizer over the texts. Rare words are then split into smaller tokens; no character becomes unknown unless
`all_characters` is off.
"""

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.anatomy import shares_vocabulary
from niwaki.models.edits.vocabulary import Vocabulary as VocabularyEdit
from niwaki.models.edits.vocabulary import require_vocabulary
from niwaki.models.model import Model
from niwaki.tokenization.trimming import trimmed, used_tokens


class Vocabulary(Method, Reshapes):
    min_count: int = setting(1, "keep tokens that occur at least this often in the stage's texts", tune=(1, 2), ge=1)
    all_characters: bool = setting(True, "keep characters that the texts lack, e.g. those of other scripts")

    requires = Requirements(reduces=("file", "memory"))

    def dry_prepare(self, model: Model) -> Model:
        """The texts decide how many tokens stay; the skeleton loses one."""
        if shares_vocabulary(model.anatomy):
            raise InputError(
                "vocabulary: source and target share one vocabulary, by which the rows are encoded; trim the model before the recipe "
                "(niwaki trim MODEL TEXTS --targets TARGETS) and leave 'vocabulary' out"
            )
        require_vocabulary(model.anatomy, "vocabulary")
        model.apply_edit(VocabularyEdit(keep=max(1, model.anatomy.tokens.num_embeddings - 1)))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        keep = used_tokens(model.tokenizer.backend_tokenizer, context.texts(), self.min_count, self.all_characters)
        model.tokenizer = trimmed(model.tokenizer, keep)
        model.apply_edit(VocabularyEdit(keep=keep))
        return model
