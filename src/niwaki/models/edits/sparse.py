"""Stores matrices without their zeros."""

from functools import partial

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
    """Removes zeros, and the weights selected by `with_masks`. Packed values stay packed."""

    _masks: dict[str, Tensor] = PrivateAttr(default_factory=dict)

    def with_masks(self, masks: dict[str, Tensor]) -> "Sparse":
        """Set masks (out, in), by the paths of the matrices; True keeps a weight."""
        self._masks = masks
        return self

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        once = SharedReplacement()
        for path in list(anatomy.matrices()):
            make = partial(stored, mask=self._masks.get(path))
            network.set_submodule(path, once(network.get_submodule(path), make))


def stored(module: nn.Module, mask: Tensor | None = None) -> nn.Module:
    """The module with a sparse weight; other modules, such as LSTMs, are returned unchanged."""
    if not isinstance(module, nn.Linear | Int8Linear | StoredLinear):
        return module
    found = to_dense(module)
    weight = found.weight if mask is None else found.weight * mask
    return StoredLinear(Store.of(weight, base_of(module)), found.bias)


def base_of(module: object) -> int:
    """Number of levels of a matrix; 0 for floats."""
    if isinstance(module, Int8Linear):
        return 255
    store = getattr(module, "store", None)
    return store.base if isinstance(store, Store | LowBit) else 0
