"""Keeps some dimensions of the hidden states, in every layer."""

from functools import partial

from niwaki.models.anatomy import Anatomy, Network, require_equal_sizes
from niwaki.models.edit import Edit, reject_language_model, resolve_indices
from niwaki.models.embedding_tables import all_tables, embedding_norms
from niwaki.models.layer import hidden_matrices
from niwaki.models.module_paths import SharedReplacement, replace_modules
from niwaki.models.sizes import update_heads
from niwaki.models.slicing import cut_linear, cut_norm, cut_table


class HiddenSize(Edit):
    keep: list[int] | int  # dimensions, or the number of first dimensions

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        require_equal_sizes(anatomy, "hidden_size")
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
        head = anatomy.head
        for path in head.inner:
            network.set_submodule(path, cut_linear(network.get_submodule(path), outputs=keep, inputs=keep))
        for role in head.from_hidden:  # of a head that was put in
            head.set_submodule(role, cut_linear(head.get_submodule(role), inputs=keep))
        if head.final:
            inputs = head.final_inputs(keep, whole)
            network.set_submodule(head.final, cut_linear(network.get_submodule(head.final), inputs=inputs))
        for key in (anatomy.family.keys.hidden_size, *anatomy.family.keys.also_hidden_size):
            setattr(network.config, key, len(keep))
        update_heads(anatomy)

    def for_blueprint(self) -> "HiddenSize":
        return HiddenSize(keep=self.keep if isinstance(self.keep, int) else len(self.keep))


def cut_embeddings(network: Network, anatomy: Anatomy, keep: list[int]) -> None:
    """With a projection behind the embeddings, only the projection is cut; else tables and norms are."""
    projection = anatomy.inputs.projection
    if projection:
        network.set_submodule(projection, cut_linear(network.get_submodule(projection), outputs=keep))

    def wide(path: str) -> bool:
        return not (projection and path.startswith(f"{anatomy.family.body}."))

    replace_modules(network, filter(wide, all_tables(anatomy)), lambda table: cut_table(table, columns=keep))
    replace_modules(network, filter(wide, embedding_norms(anatomy)), lambda norm: cut_norm(norm, keep))
    key = anatomy.family.keys.embedding_size
    if key and not projection:
        setattr(network.config, key, len(keep))
