"""A network that writes (`models/networks/encoder_decoder.py`): all that its encoder's family says, and a decoder behind it."""

from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar

from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network, family_of
from niwaki.models.decoding import DecoderLayer
from niwaki.models.families._seq2seq import Seq2SeqAnatomy

DECODER = "decoder"


class EncoderDecoder(Seq2SeqAnatomy):
    in_transformers = False
    decoder_heads_key: ClassVar[str] = "decoder_heads"
    decoder_ffn_size_key: ClassVar[str] = "decoder_ffn_size"
    decoder_layer_list: ClassVar[str] = f"{DECODER}.layer"

    def __new__(cls, network: Network) -> Any:
        return object.__new__(mixed(str(network.config.niwaki_encoder), bool(network.config.decoder_layers)))

    @classmethod
    def register_networks(cls) -> None:
        from niwaki.models.networks.encoder_decoder import register_networks

        register_networks()

    @classmethod
    def check_config(cls, config: dict[str, Any]) -> None:
        if family_of(str(config.get("niwaki_encoder", "bert"))).is_seq2seq:
            raise InputError(
                f"config: niwaki_encoder '{config['niwaki_encoder']}' writes already; a decoder is for a family that reads"
            )
        if config.get("decoder_layers") == 0 and family_of(str(config.get("niwaki_encoder", "bert"))).relative_table:
            raise InputError(
                f"config: niwaki_encoder '{config['niwaki_encoder']}' reads by distance, which tokens of two texts have none of; it needs a decoder (decoder_layers)"
            )

    @property
    def decoder(self) -> Any:
        return self.network.get_submodule(DECODER)

    @property
    def decoder_layers(self) -> list[DecoderLayer]:
        return self.decoder.decoder_layers

    @property
    def max_generated(self) -> int:
        return int(self.network.config.decoder_positions)

    def embed_target(self, ids: Tensor, first: Tensor | int) -> Tensor:
        return self.network.dropout(self.decoder.embed(ids, first))

    def scores(self, hidden: Tensor) -> Tensor:
        return self.decoder.scores(hidden)

    def tables(self) -> Iterator[str]:
        yield from super().tables()
        yield f"{DECODER}.tokens"
        yield from self._positions()

    def whole_token_tables(self) -> list[str]:
        return [*super().whole_token_tables(), f"{DECODER}.tokens"]

    def embedding_norms(self) -> list[str]:
        return [*super().embedding_norms(), f"{DECODER}.norm"]

    def small_weights(self) -> list[str]:
        return [*super().small_weights(), *self._positions()]

    def _positions(self) -> list[str]:
        return [] if self.decoder.positions is None else [f"{DECODER}.positions"]


@cache
def mixed(family: str, has_decoder: bool) -> type[Anatomy]:
    """A writer whose encoder is of the family: what it does not say itself, the family says."""
    from niwaki.models.families._prefix_lm import PrefixLM

    kind, encoder = EncoderDecoder if has_decoder else PrefixLM, family_of(family)
    return type(
        f"{kind.__name__}{encoder.__name__}", (kind, encoder), {"in_transformers": False, "has_token_heads": False}
    )
