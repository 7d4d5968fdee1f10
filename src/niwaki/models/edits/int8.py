"""Stores matrices and embedding tables as 8-bit integers with scales."""

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.forms.int8 import packed_form
from niwaki.models.places import exchange


class Int8(Edit):
    embeddings: bool = True  # pack the token table too
    beside: bool = False  # and the small tables and the inner matrices of the head

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        tables = anatomy.token_tables() if self.embeddings else []
        beside = anatomy.beside() if self.beside else []
        exchange(network, [*anatomy.matrices(), *tables, *beside], packed_form)
