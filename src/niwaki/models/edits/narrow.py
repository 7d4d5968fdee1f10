"""Puts a narrow table and a matrix that widens it in the place of the token table, as ALBERT has them."""

from pydantic import PrivateAttr
from torch import Tensor

from niwaki.core.errors import Refused
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.forms.factored import FactoredTable, truncated
from niwaki.models.places import alike, plain


class Narrow(Edit):
    """Without factors given by `into`, those of the singular value decomposition."""

    width: int  # of the narrow table

    _factors: tuple[Tensor, Tensor] | None = PrivateAttr(None)

    def into(self, rows: Tensor, up: Tensor) -> "Narrow":
        """(pieces, narrow) and (width, narrow)."""
        self._factors = (rows, up)
        return self

    def recorded(self) -> "Narrow":
        return Narrow(width=self.width)

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        path, old = next(anatomy.tables()), anatomy.tokens
        most = old.table.embedding_dim if isinstance(old, FactoredTable) else old.embedding_dim
        if not 1 <= self.width < most:
            raise Refused(f"narrow: must be 1 to {most - 1}, less than the table's width (given: {self.width})")
        found = plain(old)
        if self._factors is None:
            left, right = truncated(found.weight, self.width)
            rows, up = left, right.T
        else:
            rows, up = self._factors
        made = FactoredTable.of(rows, up)
        inner = old.table if isinstance(old, FactoredTable) else old  # packed stays packed
        table = inner.again(made.table) if hasattr(inner, "again") else made.table
        network.set_submodule(path, FactoredTable(table, alike(old, made.up) if inner is not old else made.up))
