"""Stores matrices without their zeros."""

from functools import partial
from typing import Any

from pydantic import PrivateAttr
from torch import Tensor, nn

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.module_paths import SharedReplacement, to_dense
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.low_bit import LowBit
from niwaki.models.packed.sparse import Sparse as Store
from niwaki.models.packed.store import StoredLinear


class Sparse(Edit):
    """What is left out is 0 already, or told by `masking`. Values stay in the form that they have."""

    _masks: dict[str, Tensor] = PrivateAttr(default_factory=dict)

    def with_masks(self, masks: dict[str, Tensor]) -> "Sparse":
        """`masks` are by the paths of matrices, (out, in), True where a weight stays."""
        self._masks = masks
        return self

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        once = SharedReplacement()
        for path in list(anatomy.matrices()):
            make = partial(stored, mask=self._masks.get(path))
            network.set_submodule(path, once(network.get_submodule(path), make))


def stored(module: Any, mask: Tensor | None = None) -> nn.Module:
    """Other matrices, such as an LSTM's, are left as they are."""
    if not isinstance(module, nn.Linear | Int8Linear | StoredLinear):
        return module
    found = to_dense(module)
    weight = found.weight if mask is None else found.weight * mask
    return StoredLinear(Store.of(weight, base_of(module)), found.bias)


def base_of(module: Any) -> int:
    """Levels that the numbers of a matrix have; 0 for floats."""
    if isinstance(module, Int8Linear):
        return 255
    store = getattr(module, "store", None)
    return store.base if isinstance(store, Store | LowBit) else 0
