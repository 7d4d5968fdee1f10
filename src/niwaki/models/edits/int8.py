"""Stores matrices and embedding tables as 8-bit integers with scales."""

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.packed import packed_form


class Int8(Edit):
    embeddings: bool = True  # pack the token table too; the small tables stay as they are

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        tables = [next(anatomy.tables())] if self.embeddings else []
        for path in [*anatomy.matrices(), *tables]:
            network.set_submodule(path, packed_form(network.get_submodule(path)))
