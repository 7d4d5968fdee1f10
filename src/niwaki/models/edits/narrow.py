"""Replaces token tables by a narrow table and a projection, as in ALBERT."""

from typing import Any

from pydantic import Field, PrivateAttr

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, resolve_indices
from niwaki.models.edits.vocabulary import require_vocabulary
from niwaki.models.embedding_tables import whole_token_tables
from niwaki.models.module_paths import packed_like, to_dense, unique_modules
from niwaki.models.packed.factored import FactoredTable, Factors, truncated


class Narrow(Edit):
    """Uses the factors given by `with_factors`, else those of a singular value decomposition."""

    width: int  # width of the narrow tables
    tables: list[int] = Field([0])  # which distinct token tables: encoder, decoder

    _factors: dict[str, Factors] = PrivateAttr(default_factory=dict)

    def with_factors(self, factors: dict[str, Factors]) -> "Narrow":
        """Set the factors, by the paths of the tables: (tokens, narrow) and (width, narrow)."""
        self._factors = factors
        return self

    def for_blueprint(self) -> "Narrow":
        return Narrow(width=self.width, tables=self.tables)

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        require_vocabulary(anatomy, "embeddings")
        every = list(unique_modules(network, whole_token_tables(anatomy)).items())
        found = dict(every[number] for number in resolve_indices(self.tables, len(every), "narrow: tables"))
        for path, old in found.items():
            if not 1 <= self.width < columns(old):
                raise InputError(
                    f"narrow: must be 1 to {columns(old) - 1}, less than the width of '{path}' (given: {self.width})"
                )
        tables = {id(old): self._factorize(old, self._factors.get(path)) for path, old in found.items()}
        for path in whole_token_tables(anatomy):  # a shared table has two paths
            if id(old := network.get_submodule(path)) in tables:
                network.set_submodule(path, tables[id(old)])

    def _factorize(self, old: object, given: Factors | None) -> FactoredTable:
        if given is None:
            left, right = truncated(to_dense(old).weight, self.width)
            given = left, right.T
        tables = FactoredTable.of(*given)
        inner = old.table if isinstance(old, FactoredTable) else old  # a packed table stays packed
        table = inner.repack(tables.table) if hasattr(inner, "repack") else tables.table
        return FactoredTable(table, packed_like(old, tables.up) if inner is not old else tables.up)


def columns(table: Any) -> int:
    """Width of the table as it is stored."""
    return int(table.table.embedding_dim if isinstance(table, FactoredTable) else table.embedding_dim)
