"""A network that writes (`models/networks/writer.py`): all that its encoder's family says, and a decoder behind it."""

from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar

from torch import Tensor

from niwaki.core.errors import Refused
from niwaki.models.anatomy import Anatomy, Network, family_of
from niwaki.models.decoding import Unit
from niwaki.models.families._writing import Writing

DECODER = "decoder"


class Writer(Writing):
    in_transformers = False
    heads_of_decoder: ClassVar[str] = "decoder_heads"
    neurons_of_decoder: ClassVar[str] = "decoder_neurons"
    unit_list: ClassVar[str] = f"{DECODER}.layer"

    def __new__(cls, network: Network) -> Any:
        return object.__new__(mixed(str(network.config.niwaki_encoder), bool(network.config.decoder_layers)))

    @classmethod
    def introduce(cls) -> None:
        from niwaki.models.networks.writer import introduce

        introduce()

    @classmethod
    def refuse(cls, config: dict[str, Any]) -> None:
        if family_of(str(config.get("niwaki_encoder", "bert"))).writes:
            raise Refused(f"config: niwaki_encoder '{config['niwaki_encoder']}' writes already; a decoder is for a family that reads")  # fmt: skip
        if config.get("decoder_layers") == 0 and family_of(str(config.get("niwaki_encoder", "bert"))).relative_table:
            raise Refused(f"config: niwaki_encoder '{config['niwaki_encoder']}' reads by distance, which tokens of two texts have none of; it needs a decoder (decoder_layers)")  # fmt: skip

    @property
    def decoder(self) -> Any:
        return self.network.get_submodule(DECODER)

    @property
    def units(self) -> list[Unit]:
        return self.decoder.units

    @property
    def most_written(self) -> int:
        return int(self.network.config.decoder_positions)

    def embed_written(self, ids: Tensor, first: Tensor | int) -> Tensor:
        return self.network.dropout(self.decoder.embed(ids, first))

    def scores(self, hidden: Tensor) -> Tensor:
        return self.decoder.scores(hidden)

    def tables(self) -> Iterator[str]:
        yield from super().tables()
        yield f"{DECODER}.pieces"
        yield from self._positions()

    def whole_token_tables(self) -> list[str]:
        return [*super().whole_token_tables(), f"{DECODER}.pieces"]

    def embedding_norms(self) -> list[str]:
        return [*super().embedding_norms(), f"{DECODER}.norm"]

    def beside(self) -> list[str]:
        return [*super().beside(), *self._positions()]

    def _positions(self) -> list[str]:
        return [] if self.decoder.positions is None else [f"{DECODER}.positions"]


@cache
def mixed(family: str, decodes: bool) -> type[Anatomy]:
    """A writer whose encoder is of the family: what it does not say itself, the family says."""
    from niwaki.models.families._prefix import Prefix

    kind, encoder = Writer if decodes else Prefix, family_of(family)
    return type(f"{kind.__name__}{encoder.__name__}", (kind, encoder), {"in_transformers": False, "for_tokens": False})
