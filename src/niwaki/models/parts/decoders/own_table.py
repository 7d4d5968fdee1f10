"""A decoder behind an encoder of any family, with tables of its own (`models/networks/encoder_decoder.py`)."""

from typing import ClassVar

from torch import Tensor

from niwaki.models.parts.decoders._decoder import Decoder
from niwaki.models.tables import scores

DECODER = "decoder"


class OwnTable(Decoder):
    native: ClassVar[str | None] = "own_table"

    def embed(self, ids: Tensor, first: Tensor | int) -> Tensor:
        return self.network.dropout(self.network.decoder.embed(ids, first))

    def logits(self, hidden: Tensor) -> Tensor:
        return scores(self.network.decoder.tokens, hidden)

    @property
    def max_tokens(self) -> int:
        return int(self.network.config.decoder_positions)

    @property
    def token_tables(self) -> list[str]:
        return [f"{DECODER}.tokens"]

    @property
    def small_tables(self) -> list[str]:
        return [] if self.network.decoder.positions is None else [f"{DECODER}.positions"]

    @property
    def norms(self) -> list[str]:
        return [f"{DECODER}.norm"]
