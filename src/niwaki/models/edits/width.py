"""Keeps some columns of the hidden state, everywhere it is read or written."""

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, chosen
from niwaki.models.edits.heads import tell_heads
from niwaki.models.places import Once
from niwaki.models.slicing import cut_linear, cut_norm, cut_table


class Width(Edit):
    keep: list[int] | int  # which columns, or how many of the first

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers("width")
        keep = chosen(self.keep, anatomy.width, "width")
        cut_embeddings(network, anatomy, keep)
        once = Once()
        for layer in anatomy.layers:
            for part in ("query", "key", "value", "ffn_in"):
                layer.replace(part, once(layer.part(part), lambda old: cut_linear(old, inputs=keep)))
            for part in ("out", "ffn_out"):
                layer.replace(part, once(layer.part(part), lambda old: cut_linear(old, outputs=keep)))
            for part in ("attention_norm", "ffn_norm"):
                layer.replace(part, cut_norm(layer.part(part), keep))
        for path in anatomy.head_square:
            network.set_submodule(path, cut_linear(network.get_submodule(path), outputs=keep, inputs=keep))
        network.set_submodule(anatomy.head_final, cut_linear(network.get_submodule(anatomy.head_final), inputs=keep))
        setattr(network.config, anatomy.width_key, len(keep))
        tell_heads(network, anatomy)

    def recorded(self) -> "Width":
        return Width(keep=self.keep if isinstance(self.keep, int) else len(self.keep))


def cut_embeddings(network: Network, anatomy: Anatomy, keep: list[int]) -> None:
    """A family with a projection keeps its narrow tables whole; elsewhere tables and norm are as wide as the layers."""
    projections = [
        path for path in anatomy.whole_matrices() if anatomy.projection and path.endswith(anatomy.projection)
    ]
    for path in projections:
        network.set_submodule(path, cut_linear(network.get_submodule(path), outputs=keep))
    if projections:
        return
    for path in anatomy.tables():
        network.set_submodule(path, cut_table(network.get_submodule(path), columns=keep))
    norm = anatomy.trunk.get_submodule(anatomy.embedding_norm)
    anatomy.trunk.set_submodule(anatomy.embedding_norm, cut_norm(norm, keep))
    if hasattr(network.config, "embedding_size"):
        network.config.embedding_size = len(keep)
