"""Replaces matrices by the product of two thin ones."""

from functools import partial

from pydantic import PrivateAttr
from torch import nn

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, check_shared_alike
from niwaki.models.module_paths import SharedReplacement, packed_like, to_dense
from niwaki.models.packed.factored import Factored as PackedWeight
from niwaki.models.packed.factored import Factors, truncated


class Factored(Edit):
    """Uses the factors given by `with_factors`, else those of a singular value decomposition."""

    ranks: list[int]  # rank of each matrix, in the anatomy's order; 0 leaves it whole

    _factors: dict[str, Factors] = PrivateAttr(default_factory=dict)

    def with_factors(self, factors: dict[str, Factors]) -> "Factored":
        """Set the factors, by the paths of the matrices."""
        self._factors = factors
        return self

    def for_blueprint(self) -> "Factored":
        return Factored(ranks=self.ranks)

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        paths = list(anatomy.whole_matrices())
        if len(paths) != len(self.ranks):
            raise InputError(f"factored: {len(self.ranks)} ranks are named and the model has {len(paths)} matrices")
        for path, rank in zip(paths, self.ranks, strict=True):
            module = network.get_submodule(path)
            most = min(module.in_features, module.out_features) if hasattr(module, "in_features") else 0
            if not 0 <= rank <= most:
                raise InputError(f"factored: the rank of '{path}' must be 0 to {most} (given: {str(rank)[:20]})")
        check_shared_alike(
            "factored", ((path, network.get_submodule(path), one) for path, one in zip(paths, self.ranks, strict=True))
        )
        once = SharedReplacement()
        for path, rank in zip(paths, self.ranks, strict=True):
            if rank:
                make = partial(self._split, path=path, rank=rank)
                network.set_submodule(path, once(network.get_submodule(path), make))

    def _split(self, module: object, path: str, rank: int) -> nn.Module:
        found = to_dense(module)
        left, right = self._factors.get(path) or truncated(found.weight, rank)
        product = PackedWeight.of(left, right, found.bias)
        return PackedWeight(packed_like(module, product.first), packed_like(module, product.second))
