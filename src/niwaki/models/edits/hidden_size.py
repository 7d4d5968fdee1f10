"""Keeps some columns of the hidden state, everywhere it is read or written."""

from functools import partial
from typing import Any

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, resolve_indices
from niwaki.models.module_paths import SharedReplacement, replace_modules
from niwaki.models.slicing import cut_linear, cut_norm, cut_table


class HiddenSize(Edit):
    keep: list[int] | int  # which columns, or how many of the first

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers("hidden_size")
        keep = resolve_indices(self.keep, anatomy.hidden_size, "hidden_size")
        cut_embeddings(network, anatomy, keep)
        once = SharedReplacement()
        for layer in anatomy.attentions:
            for part in layer.parts:
                layer.replace(part, once(layer.part(part), partial(cut_part, part, keep=keep)))
        for path in anatomy.head_square:
            network.set_submodule(path, cut_linear(network.get_submodule(path), outputs=keep, inputs=keep))
        if anatomy.head_final:
            final = cut_linear(network.get_submodule(anatomy.head_final), inputs=keep)
            network.set_submodule(anatomy.head_final, final)
        setattr(network.config, anatomy.hidden_size_key, len(keep))
        anatomy.update_config_heads()

    def for_blueprint(self) -> "HiddenSize":
        return HiddenSize(keep=self.keep if isinstance(self.keep, int) else len(self.keep))


def cut_part(part: str, old: Any, keep: list[int]) -> Any:
    """A part of a layer with these columns of what it reads or writes."""
    if part.endswith("norm"):
        return cut_norm(old, keep)
    return cut_linear(old, outputs=keep) if part in ("out", "ffn_out") else cut_linear(old, inputs=keep)


def cut_embeddings(network: Network, anatomy: Anatomy, keep: list[int]) -> None:
    """A family with a projection keeps its narrow tables whole; elsewhere tables and norms are as wide as the layers."""
    projections = [
        path for path in anatomy.whole_matrices() if anatomy.projection and path.endswith(anatomy.projection)
    ]
    for path in projections:
        network.set_submodule(path, cut_linear(network.get_submodule(path), outputs=keep))

    def wide(path: str) -> bool:
        return not (projections and path.startswith(f"{anatomy.body}."))

    replace_modules(network, filter(wide, anatomy.tables()), lambda table: cut_table(table, columns=keep))
    replace_modules(network, filter(wide, anatomy.embedding_norms()), lambda norm: cut_norm(norm, keep))
    if hasattr(network.config, "embedding_size") and not projections:
        network.config.embedding_size = len(keep)
