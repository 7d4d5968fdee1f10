"""Stores matrices, and the token table, as numbers of a few levels: 1 to 4 bits a weight."""

from typing import Any

from torch import nn

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.forms.digits import Digits as Store
from niwaki.models.forms.int8 import Int8Embedding, Int8Linear
from niwaki.models.forms.sparse import Sparse
from niwaki.models.forms.store import Floats, StoredLinear, StoredTable
from niwaki.models.places import exchange, leaves, plain


class Digits(Edit):
    base: int  # levels of a weight
    group: int = 0  # weights of a row that share a scale; 0 is the whole row
    matrices: bool = True
    table: bool = True  # the token table; the small tables stay as they are

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        paths = [*(anatomy.matrices() if self.matrices else ())]
        if self.table:
            paths += leaves(network, next(anatomy.tables()))
        exchange(network, paths, self.packed)

    def packed(self, module: Any) -> nn.Module:
        """The module with fewer levels; one that has no more than that is left as it is."""
        if isinstance(module, nn.Linear | Int8Linear):
            linear = plain(module)
            return StoredLinear(Store.of(linear.weight, self.base, self.group), linear.bias)
        if isinstance(module, nn.Embedding | Int8Embedding):
            return StoredTable(Store.of(plain(module).weight, self.base, self.group))
        if not isinstance(module, StoredLinear | StoredTable):
            return module.packed() if hasattr(module, "packed") else module
        store = self._fewer(module.store)
        return StoredTable(store) if isinstance(module, StoredTable) else StoredLinear(store, module.bias)

    def _fewer(self, store: Any) -> Any:
        if isinstance(store, Sparse):
            return Sparse.of(store(), self.base) if not 0 < store.base <= self.base else store
        if isinstance(store, Floats) or store.base > self.base:
            return Store.of(store(), self.base, self.group)
        return store
