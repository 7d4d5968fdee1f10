"""Puts a narrow table and a matrix that widens it in the place of each token table, as ALBERT has them."""

from typing import Any

from pydantic import Field, PrivateAttr

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, resolve_indices
from niwaki.models.embedding_tables import whole_token_tables
from niwaki.models.module_paths import packed_like, to_dense, unique_modules
from niwaki.models.packed.factored import FactoredTable, Factors, truncated


class Narrow(Edit):
    """Without factors given by `into`, those of the singular value decomposition."""

    width: int  # of the narrow tables
    tables: list[int] = Field([0])  # which of the different token tables: what is read, what is written

    _factors: dict[str, Factors] = PrivateAttr(default_factory=dict)

    def with_factors(self, factors: dict[str, Factors]) -> "Narrow":
        """By the paths of tables: (pieces, narrow) and (width, narrow)."""
        self._factors = factors
        return self

    def for_blueprint(self) -> "Narrow":
        return Narrow(width=self.width, tables=self.tables)

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        every = list(unique_modules(network, whole_token_tables(anatomy)).items())
        found = dict(every[number] for number in resolve_indices(self.tables, len(every), "narrow: tables"))
        for path, old in found.items():
            if not 1 <= self.width < columns(old):
                raise InputError(
                    f"narrow: must be 1 to {columns(old) - 1}, less than the width of '{path}' (given: {self.width})"
                )
        made = {id(old): self._made(old, self._factors.get(path)) for path, old in found.items()}
        for path in whole_token_tables(anatomy):  # a shared one lies in two places
            if id(old := network.get_submodule(path)) in made:
                network.set_submodule(path, made[id(old)])

    def _made(self, old: Any, given: Factors | None) -> FactoredTable:
        if given is None:
            left, right = truncated(to_dense(old).weight, self.width)
            given = left, right.T
        made = FactoredTable.of(*given)
        inner = old.table if isinstance(old, FactoredTable) else old  # packed stays packed
        table = inner.repack(made.table) if hasattr(inner, "repack") else made.table
        return FactoredTable(table, packed_like(old, made.up) if inner is not old else made.up)


def columns(table: Any) -> int:
    """Of the table as it is stored."""
    return int(table.table.embedding_dim if isinstance(table, FactoredTable) else table.embedding_dim)
