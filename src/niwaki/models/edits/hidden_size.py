"""Keeps some dimensions of the hidden states, in every layer."""

from functools import partial

from niwaki.models.anatomy import Anatomy, Network, require_equal_sizes
from niwaki.models.edit import Edit, reject_language_model, resolve_indices
from niwaki.models.embedding_tables import all_tables, embedding_norms
from niwaki.models.layer import hidden_matrices
from niwaki.models.module_paths import SharedReplacement, replace_modules
from niwaki.models.parts.heads._head import inner_norms
from niwaki.models.sizes import update_heads
from niwaki.models.slicing import cut_linear, cut_norm, cut_table

MASKED_LM = "MaskedLM"  # the head with logits of all tokens


class HiddenSize(Edit):
    keep: list[int] | int  # dimensions, or the number of first dimensions

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        require_equal_sizes(anatomy, "hidden_size")
        if anatomy.head.architecture != MASKED_LM:
            reject_language_model(anatomy, "hidden_size")
        whole = anatomy.hidden_size
        keep = resolve_indices(self.keep, whole, "hidden_size")
        cut_embeddings(network, anatomy, keep)
        once = SharedReplacement()
        for layer in anatomy.every_layer:
            for role in hidden_matrices(layer):
                inputs = keep if role in layer.roles("from_hidden") | layer.roles("floats") else None
                outputs = keep if role in layer.roles("to_hidden") else None
                cut = partial(cut_linear, outputs=outputs, inputs=inputs)
                layer.replace(role, once(layer.part(role), cut))
            for role in layer.norms:
                layer.replace(role, once(layer.part(role), partial(cut_norm, keep=keep)))
        cut_head(network, anatomy, keep, whole)
        for key in (anatomy.family.keys.hidden_size, *anatomy.family.keys.also_hidden_size):
            setattr(network.config, key, len(keep))
        update_heads(anatomy)

    def for_blueprint(self) -> "HiddenSize":
        return HiddenSize(keep=self.keep if isinstance(self.keep, int) else len(self.keep))


def cut_head(network: Network, anatomy: Anatomy, keep: list[int], whole: int) -> None:
    """A language model's head ends as wide as a token vector, which stays with a projection."""
    head, stays = anatomy.head, ends_with_table(anatomy)
    for path in head.inner:
        outputs = None if stays else keep
        network.set_submodule(path, cut_linear(network.get_submodule(path), outputs=outputs, inputs=keep))
    for role in head.from_hidden:  # of a head that was put in
        head.set_submodule(role, cut_linear(head.get_submodule(role), inputs=keep))
    if head.final and not stays:
        inputs = head.final_inputs(keep, whole)
        network.set_submodule(head.final, cut_linear(network.get_submodule(head.final), inputs=inputs))


def ends_with_table(anatomy: Anatomy) -> bool:
    """Whether the head is a language model's, on token vectors of their own size."""
    return anatomy.head.architecture == MASKED_LM and bool(anatomy.inputs.projection)


def cut_embeddings(network: Network, anatomy: Anatomy, keep: list[int]) -> None:
    """With a projection behind the tables, only the projection is cut; else tables and norms are."""
    projection, head_norms = anatomy.inputs.projection, inner_norms(anatomy.head)
    if projection:
        network.set_submodule(projection, cut_linear(network.get_submodule(projection), outputs=keep))

    def wide(path: str) -> bool:
        inside = path.startswith(f"{anatomy.family.body}.") or (path in head_norms and ends_with_table(anatomy))
        return not (projection and anatomy.inputs.projects_tables and inside)

    replace_modules(network, filter(wide, all_tables(anatomy)), lambda table: cut_table(table, columns=keep))
    replace_modules(network, filter(wide, embedding_norms(anatomy)), lambda norm: cut_norm(norm, keep))
    key = anatomy.family.keys.embedding_size
    if key and not projection:
        setattr(network.config, key, len(keep))
