"""A network that writes (`models/networks/writer.py`): all that its encoder's family says, and a decoder behind it."""

from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from niwaki.models.anatomy import Anatomy, Network, family_of
from niwaki.models.block import Block
from niwaki.models.decoding import Pair, Unit, decoded, ignored, remembered
from niwaki.models.layer import Layer, reads

DECODER = "decoder"
START = 1  # what a text begins with: the second of a target tokenizer's marks


class Writer(Anatomy):
    """`layers` and `order` are the encoder's; `attentions`, `blocks`, `matrices` and tables are of both."""

    in_transformers = False
    for_tokens = False
    writes = True
    heads_of_decoder: ClassVar[str] = "decoder_heads"
    neurons_of_decoder: ClassVar[str] = "decoder_neurons"

    def __new__(cls, network: Network) -> Any:
        return object.__new__(mixed(str(network.config.niwaki_encoder)))

    @classmethod
    def introduce(cls) -> None:
        from niwaki.models.networks.writer import introduce

        introduce()

    @property
    def decoder(self) -> Any:
        return self.network.get_submodule(DECODER)

    @property
    def units(self) -> list[Unit]:
        return self.decoder.units

    def take_units(self, keep: list[int]) -> None:
        """These of the decoder's layers stay, in this order."""
        self.decoder.layer = nn.ModuleList([self.units[number][0].module for number in keep])
        self.network.config.decoder_layers = len(keep)

    @property
    def stacks(self) -> dict[str, list[tuple[Layer, ...]]]:
        return {**super().stacks, "decoder layer": [*self.units]}

    def reads_written(self, path: str) -> bool:
        """All of the decoder's but keys and values of what was read."""
        named = {id(module): name for name, module in self.network.named_modules()}
        read = [f"{named[id(other.module)]}.{other.path(part)}" for _, other in self.units for part in ("key", "value")]
        return path.startswith(f"{DECODER}.") and not f"{path}.".startswith(tuple(f"{one}." for one in read))

    def shape(self, depth: int, width: int, heads: int, neurons: int) -> dict[str, int]:
        """The decoder's depth is its own."""
        own = {self.heads_of_decoder: heads, self.neurons_of_decoder: neurons}
        return {**super().shape(depth, width, heads, neurons), **own}

    @property
    def blocks(self) -> list[Block]:
        return [*super().blocks, *(Block(other.module, other.path("ffn_in"), other.path("ffn_out")) for _, other in self.units)]  # fmt: skip

    def tell_neurons(self) -> None:
        config, depth = self.network.config, len(self.layers)
        for key, blocks in ((self.neurons_key, self.blocks[:depth]), (self.neurons_of_decoder, self.blocks[depth:])):
            counts = {block.neurons for block in blocks}
            if len(counts) == 1:
                setattr(config, key, counts.pop())

    def tell_heads(self) -> None:
        super().tell_heads()
        self.tell_heads_of([layer for unit in self.units for layer in unit], self.heads_of_decoder)

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

    @property
    def head_square(self) -> tuple[str, ...]:
        return ()

    @property
    def head_final(self) -> str:
        return ""  # the table tells how likely each piece is

    # ── the lean pass ───────────────────────────────────────────────────────────────────────────────────────────────

    def remember(self, ids: Tensor, mask: Tensor, types: Tensor | None) -> list[Pair]:
        hidden = self.stretch(self.embed(ids, types), mask, 0, len(self.order), every=True)
        return remembered(self.units, hidden)

    def step(
        self, ids: Tensor, place: Tensor, mask: Tensor, memory: list[Pair], past: list[Pair]
    ) -> tuple[Tensor, list[Pair]]:
        hidden = self.decoder.embed(ids.reshape(-1, 1), place).reshape(*ids.shape, -1)
        hidden, past = decoded(self.units, hidden, memory, ignored(mask, hidden), past)
        return torch.log_softmax(self.decoder.scores(hidden).float(), dim=-1), past

    def nothing_written(self, hypotheses: int, like: Tensor) -> list[Pair]:
        sizes = [(own.heads, own.head_width) for own, _ in self.units if reads(own)]
        return [(like.new_zeros(hypotheses, heads, 0, width),) * 2 for heads, width in sizes]

    def logits(self, ids: Tensor, mask: Tensor, types: Tensor | None) -> Tensor:
        """What writing as many tokens as are read takes, or as many as can be: the last one's scores (batch, pieces). For counting."""
        memory = self.remember(ids, mask, types)
        past, last = self.nothing_written(len(ids), memory[0][0]), torch.full((len(ids), 1), START)
        for place in range(min(ids.shape[1], self.network.config.decoder_positions)):
            scores, past = self.step(last, torch.tensor(place), mask, memory, past)
            last = scores.argmax(dim=-1)
        return scores[:, 0]


@cache
def mixed(family: str) -> type[Anatomy]:
    """A writer whose encoder is of the family: what it does not say itself, the family says."""
    encoder = family_of(family)
    return type(f"Writing{encoder.__name__}", (Writer, encoder), {"in_transformers": False, "for_tokens": False})
