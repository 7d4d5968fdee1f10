"""Stores matrices and embedding tables as 8-bit integers with scales."""

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.embedding_tables import small_weights, token_tables
from niwaki.models.module_paths import replace_modules
from niwaki.models.packed.int8 import pack_int8


class Int8(Edit):
    embeddings: bool = True  # pack the token table too
    small_weights: bool = False  # pack the small tables and the inner matrices of the head too

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        tables = token_tables(anatomy) if self.embeddings else []
        small = small_weights(anatomy) if self.small_weights else []
        replace_modules(network, [*anatomy.matrices(), *tables, *small], pack_int8)
