"""Stores matrices, and the token table, with few levels: 1 to 4 bits per weight."""

from functools import partial
from typing import Any

from pydantic import PrivateAttr
from torch import Tensor, nn

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.embedding_tables import small_weights, token_tables
from niwaki.models.module_paths import SharedReplacement, replace_modules, to_dense
from niwaki.models.packed.int8 import pack_int8
from niwaki.models.packed.low_bit import LowBit as Store
from niwaki.models.packed.sparse import Sparse
from niwaki.models.packed.store import Floats, StoredLinear, StoredTable


class LowBit(Edit):
    """Uses the scales given by `with_scales`, else those with the least squared error."""

    base: int  # levels of a weight
    group: int = 0  # weights of a row that share a scale; 0 is the whole row
    matrices: bool = True
    table: bool = True  # the token table
    small_weights: bool = False  # the small tables and the inner matrices of the head, in 8 bits

    _scales: dict[str, Tensor] = PrivateAttr(default_factory=dict)

    def with_scales(self, scales: dict[str, Tensor]) -> "LowBit":
        """Set the scales (rows, groups), by the paths of the matrices and the table."""
        self._scales = scales
        return self

    def for_blueprint(self) -> "LowBit":
        return LowBit(**self.model_dump())

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        once = SharedReplacement()
        for path in self.places(network, anatomy):
            make = partial(self.packed, scale=self._scales.get(path))
            network.set_submodule(path, once(network.get_submodule(path), make))
        replace_modules(network, small_weights(anatomy) if self.small_weights else [], pack_int8)

    def places(self, network: Network, anatomy: Anatomy) -> list[str]:
        tables = token_tables(anatomy) if self.table else []
        return [*(anatomy.matrices() if self.matrices else ()), *tables]

    def packed(self, module: object, scale: Tensor | None = None) -> nn.Module:
        """The module with at most `base` levels; an LSTM gets 8 bits."""
        if isinstance(module, StoredLinear | StoredTable):
            store = self._fewer(module.store)
            return StoredTable(store) if isinstance(module, StoredTable) else StoredLinear(store, module.bias)
        if hasattr(module, "packed"):
            return module.packed()
        found = to_dense(module)
        store = Store.of(found.weight, self.base, self.group, scale)
        return StoredTable(store) if isinstance(found, nn.Embedding) else StoredLinear(store, found.bias)

    def _fewer(self, store: Any) -> Any:
        if isinstance(store, Sparse):
            return Sparse.of(store(), self.base) if not 0 < store.base <= self.base else store
        if isinstance(store, Floats) or store.base > self.base:
            return Store.of(store(), self.base, self.group)
        return store
