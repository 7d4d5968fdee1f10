"""Keeps some rows of the token table. The tokenizer is trimmed with it (see `niwaki.tokenization.trimming`)."""

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network, shares_vocabulary
from niwaki.models.edit import Edit, reject_language_model, resolve_indices
from niwaki.models.embedding_tables import whole_token_tables
from niwaki.models.slicing import cut_table


class Vocabulary(Edit):
    keep: list[int] | int  # token ids, or the number of first ids; the old id keep[i] becomes i

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        reject_language_model(anatomy, "vocabulary")
        require_vocabulary(anatomy, "vocabulary")
        keep = resolve_indices(self.keep, anatomy.tokens.num_embeddings, "vocabulary")
        if any(network.get_submodule(path) is anatomy.tokens for path in whole_token_tables(anatomy)[1:]):
            raise InputError(
                "vocabulary: encoder and decoder share the token table, so no token can be removed; leave 'vocabulary' out "
                "('embeddings' makes the table narrow), or create the model with shared = false"
            )
        renumber_special_tokens(network, anatomy, keep)
        for path in list(anatomy.inputs.vocabulary_tables):
            network.set_submodule(path, cut_table(network.get_submodule(path), rows=keep))
        if shares_vocabulary(anatomy) and anatomy.decoder is not None:
            anatomy.decoder.keep_tokens(keep)
        for key in ("vocab_size", *anatomy.family.keys.also_vocabulary_size):
            setattr(network.config, key, len(keep))

    def for_blueprint(self) -> "Vocabulary":
        return Vocabulary(keep=self.keep if isinstance(self.keep, int) else len(self.keep))


def require_vocabulary(anatomy: Anatomy, what: str) -> None:
    """Rejects networks that embed characters without a table of them."""
    if not anatomy.inputs.has_vocabulary:
        raise InputError(
            f"{what}: a model of family '{anatomy.network.config.model_type}' has no table of tokens; leave '{what}' out"
        )


def renumber_special_tokens(network: Network, anatomy: Anatomy, keep: list[int]) -> None:
    """Update the special token ids in the config. Families that count positions from the padding token must keep its id."""
    config = network.config
    for name in anatomy.family.special_token_keys:
        token = getattr(config, name, None)
        new_id = keep.index(int(token)) if token in keep else None
        if anatomy.family.inputs.skipped_positions and new_id != token:
            raise InputError(
                f"vocabulary: this family counts positions from the padding token, so id {token} must stay id {token}"
            )
        if new_id is not None:
            setattr(config, name, new_id)
