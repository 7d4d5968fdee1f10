"""Replaces matrices by sums of Kronecker products."""

from functools import partial
from typing import Any

from torch import nn

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, check_shared_alike
from niwaki.models.module_paths import SharedReplacement, to_dense
from niwaki.models.packed.kronecker import Sizes, factorize_like


class Kronecker(Edit):
    sizes: list[Sizes | None]  # of each matrix, in the anatomy's order; None leaves it whole

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        paths = list(anatomy.whole_matrices())
        if len(paths) != len(self.sizes):
            raise InputError(f"kronecker: {len(self.sizes)} sizes are named and the model has {len(paths)} matrices")
        for path, sizes in zip(paths, self.sizes, strict=True):
            if sizes and not fits(network.get_submodule(path), sizes):
                raise InputError(
                    f"kronecker: '{path}' has no factors of {str(sizes[0])[:20]} rows and {str(sizes[1])[:20]} columns with "
                    f"{str(sizes[2])[:20]} terms"
                )
        check_shared_alike(
            "kronecker", ((path, network.get_submodule(path), one) for path, one in zip(paths, self.sizes, strict=True))
        )
        once = SharedReplacement()
        for path, sizes in zip(paths, self.sizes, strict=True):
            if sizes:
                make = partial(split, sizes=sizes)
                network.set_submodule(path, once(network.get_submodule(path), make))


def split(module: object, sizes: Sizes) -> nn.Module:
    return factorize_like(module, to_dense(module), sizes)


def fits(module: Any, sizes: Sizes) -> bool:
    """Whether the sizes divide the matrix's, and the number of terms is possible."""
    high, wide, terms = sizes
    if min(sizes) < 1 or not hasattr(module, "in_features"):
        return False
    out, inputs = module.out_features, module.in_features
    return not out % high and not inputs % wide and terms <= min(high * (inputs // wide), out // high * wide)
