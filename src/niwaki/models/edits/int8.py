"""Stores matrices and embedding tables as 8-bit integers with scales."""

from torch import nn

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.packed import Int8Embedding, Int8Linear


class Int8(Edit):
    embeddings: bool = True  # pack the token table too; the small tables stay as they are

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        for path in list(anatomy.matrices()):
            matrix = network.get_submodule(path)
            if isinstance(matrix, nn.Linear):
                network.set_submodule(path, Int8Linear.of(matrix))
        table_path = next(anatomy.tables())
        table = network.get_submodule(table_path)
        if self.embeddings and isinstance(table, nn.Embedding):
            network.set_submodule(table_path, Int8Embedding.of(table))
