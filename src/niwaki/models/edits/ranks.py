"""Keeps some ranks of factored matrices."""

from functools import partial

from niwaki.core.json_types import Json
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, check_shared_alike, per_layer
from niwaki.models.module_paths import SharedReplacement
from niwaki.models.packed.factored import Factored
from niwaki.models.slicing import cut_linear


class Ranks(Edit):
    keep: list[list[int] | int]  # for each factored matrix, the ranks or the number of first ranks

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        found = factored(network, anatomy)
        remaining = per_layer(self.keep, [module.rank for module in found.values()], "ranks")
        remaining = [sorted(ranks) for ranks in remaining]
        check_shared_alike("ranks", ((path, found[path], ranks) for path, ranks in zip(found, remaining, strict=True)))
        once = SharedReplacement()
        for (path, module), ranks in zip(found.items(), remaining, strict=True):
            network.set_submodule(path, once(module, partial(cut, ranks=ranks)))

    def for_blueprint(self) -> "Ranks":
        return Ranks(keep=[keep if isinstance(keep, int) else len(keep) for keep in self.keep])


def factored(network: Network, anatomy: Anatomy) -> Json:
    """The factored matrices, by their paths."""
    every = {path: network.get_submodule(path) for path in anatomy.whole_matrices()}
    return {path: module for path, module in every.items() if isinstance(module, Factored)}


def cut(module: Factored, ranks: list[int]) -> Factored:
    return Factored(cut_linear(module.first, outputs=ranks), cut_linear(module.second, inputs=ranks))
