"""Puts a narrow table and a matrix that widens it in the place of the token table, as ALBERT has them."""

from pydantic import PrivateAttr
from torch import Tensor

from niwaki.core.errors import Refused
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.edits.factored import truncated
from niwaki.models.forms.factored import FactoredTable
from niwaki.models.places import plain


class Narrow(Edit):
    """Without factors given by `into`, those of the singular value decomposition."""

    width: int  # of the narrow table

    _factors: tuple[Tensor, Tensor] | None = PrivateAttr(None)

    def into(self, rows: Tensor, up: Tensor) -> "Narrow":
        """(pieces, narrow) and (width, narrow)."""
        self._factors = (rows, up)
        return self

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        path, most = next(anatomy.tables()), anatomy.tokens.embedding_dim
        if not 1 <= self.width < most:
            raise Refused(f"narrow: must be 1 to {most - 1}, less than the table's width (given: {self.width})")
        old = anatomy.tokens
        found = plain(old)
        if self._factors is None:
            left, right = truncated(found.weight, self.width)
            rows, up = left, right.T
        else:
            rows, up = self._factors
        made = FactoredTable.of(rows, up)
        network.set_submodule(path, FactoredTable(old.again(made.table), made.up) if hasattr(old, "again") else made)
