"""Stores matrices and embedding tables as 8-bit integers with scales."""

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.module_paths import replace_modules
from niwaki.models.packed.int8 import pack_int8


class Int8(Edit):
    embeddings: bool = True  # pack the token table too
    small_weights: bool = False  # and the small tables and the inner matrices of the head

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        tables = anatomy.token_tables() if self.embeddings else []
        small_weights = anatomy.small_weights() if self.small_weights else []
        replace_modules(network, [*anatomy.matrices(), *tables, *small_weights], pack_int8)
