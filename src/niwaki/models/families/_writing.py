"""What all families that write share: a decoder beside the encoder's layers, and how it writes a token further.

A family says where its decoder's `units` are, what it makes of the last tokens (`embed_written`) and how likely each piece comes
next (`scores`).
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from niwaki.answers._search import START
from niwaki.core.errors import Refused
from niwaki.models.anatomy import Anatomy
from niwaki.models.block import Block
from niwaki.models.decoding import Pair, decoded, remembered
from niwaki.models.encoder import DECODER_HIDDEN, HIDDEN, Record, encode
from niwaki.models.layer import Layer, ignored, reads
from niwaki.models.layout import Packed
from niwaki.models.tables import Borrowed, Positions, lend


class Writing(Anatomy):
    """`layers` and `order` are the encoder's; `attentions`, `blocks`, `matrices` and tables are of both."""

    writes = decodes = True
    for_tokens = False
    heads_of_decoder: ClassVar[str]  # names in the config
    neurons_of_decoder: ClassVar[str]
    depth_of_decoder: ClassVar[str] = "decoder_layers"
    unit_list: ClassVar[str]  # of the decoder's layers, from the network

    @property
    def most_written(self) -> int:
        """Tokens for which it has positions."""
        return self.max_tokens

    def embed_written(self, ids: Tensor, first: Tensor | int) -> Tensor:
        """Tokens of what is written (batch, tokens), the first of them at a place, to (batch, tokens, width)."""
        raise NotImplementedError

    def scores(self, hidden: Tensor) -> Tensor:
        """What the decoder's last layer leaves, (…, width), to (…, pieces)."""
        raise NotImplementedError

    def read(self, hidden: Tensor) -> Tensor:
        """What the encoder's last layer leaves as the decoder reads it."""
        return hidden

    def written_bias(self, places: Tensor, tokens: int) -> Tensor | None:
        """What tokens at some places add to their attention to the first `tokens` ones, (1, heads, places, tokens), or None."""
        return None

    # ── what can be cut ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def stacks(self) -> dict[str, list[tuple[Layer, ...]]]:
        return {**super().stacks, "decoder layer": [*self.units]}

    def take_units(self, keep: list[int]) -> None:
        modules = [own.module for own, _ in self.units]
        self.network.set_submodule(self.unit_list, nn.ModuleList([modules[number] for number in keep]))
        setattr(self.network.config, self.depth_of_decoder, len(keep))

    def real_tokens(self, path: str, read: Tensor, written: Tensor) -> Tensor:
        """All of the decoder's but keys and values of what was read are given what is written."""
        names = {id(module): name for name, module in self.network.named_modules()}
        whole = [f"{names[id(own.module)]}." for own, _ in self.units]
        others = [
            f"{names[id(other.module)]}.{other.path(part)}" for _, other in self.units for part in ("key", "value")
        ]
        own = path.startswith(tuple(whole)) and not f"{path}.".startswith(tuple(f"{one}." for one in others))
        return written if own else read

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

    @property
    def head_square(self) -> tuple[str, ...]:
        return ()

    @property
    def head_final(self) -> str:
        return ""  # the table tells how likely each piece is

    # ── the lean pass ───────────────────────────────────────────────────────────────────────────────────────────────

    def run(self, inputs: Mapping[str, Tensor], record: Record) -> Tensor:
        """All tokens of what is generated at once, each predicted from those before it: (batch, tokens, vocabulary)."""
        mask, targets = inputs["attention_mask"], inputs["decoder_input_ids"]
        embedded, layout = self.embed(inputs["input_ids"], inputs.get("token_type_ids")), Packed(mask)
        if HIDDEN in record:
            record[HIDDEN].append(embedded)
        layers = self.layers
        run = [layers[number] for number in self.order]
        rows = encode(run, layout.pack(embedded), layout, self.position_bias(embedded), True, record)
        hidden = self.embed_written(targets, 0)
        bias = self.written_bias(torch.arange(targets.shape[1], device=targets.device), targets.shape[1])
        memory = remembered(self.units, layout.unpack(self.read(rows)))
        passed = record.get(DECODER_HIDDEN)
        if passed is not None:
            passed.append(hidden)
        return self.scores(decoded(self.units, hidden, memory, ignored(mask, hidden), bias=bias, passed=passed)[0])

    def remember(self, ids: Tensor, mask: Tensor, types: Tensor | None) -> list[Pair]:
        hidden = self.layer_range(self.embed(ids, types), mask, 0, len(self.order), every=True)
        return remembered(self.units, self.read(hidden))

    def step(
        self, ids: Tensor, place: Tensor, mask: Tensor, memory: list[Pair], past: list[Pair]
    ) -> tuple[Tensor, list[Pair]]:
        hidden = self.embed_written(ids.reshape(-1, 1), place).reshape(*ids.shape, -1)
        bias = self.written_bias(place.reshape(1), past[0][0].shape[2] + 1)
        hidden, past = decoded(self.units, hidden, memory, ignored(mask, hidden), past, bias=bias)
        return torch.log_softmax(self.scores(hidden).float(), dim=-1), past

    def nothing_written(self, hypotheses: int, like: Tensor) -> list[Pair]:
        sizes = [(own.heads, own.head_width) for own, _ in self.units if reads(own)]
        return [(like.new_zeros(hypotheses, heads, 0, width),) * 2 for heads, width in sizes]

    def logits(self, ids: Tensor, mask: Tensor, types: Tensor | None) -> Tensor:
        """What writing as many tokens as are read takes, or as many as can be: the last one's scores (batch, pieces). For counting."""
        memory = self.remember(ids, mask, types)
        past, last = self.nothing_written(len(ids), memory[0][0]), torch.full((len(ids), 1), START)  # any piece will do
        for place in range(min(ids.shape[1], self.most_written)):
            scores, past = self.step(last, torch.tensor(place), mask, memory, past)
            last = scores.argmax(dim=-1)
        return scores[:, 0]


class Stock(Writing):
    """An encoder–decoder of transformers' own: one table of pieces for all that is read, written and scored."""

    own_pieces = True
    uses_types = False
    other_tables = ()
    table: ClassVar[str]  # of pieces, from the network
    borrowers: ClassVar[tuple[str, ...]]  # where transformers has modules of their own around it

    @classmethod
    def refuse(cls, config: dict[str, Any]) -> None:
        if config.get(cls.depth_of_decoder) == 0:
            raise Refused(f"config: {cls.depth_of_decoder} is 0; a {config['model_type']} writes with layers of its own, of which it needs one at least")  # fmt: skip
        if config.get("tie_word_embeddings") is False:
            raise Refused(f"config: a {config['model_type']} whose output has numbers of its own is not supported (tie_word_embeddings); take one that shares its table")  # fmt: skip

    @classmethod
    def settle(cls, network: Any) -> None:
        path, _, name = cls.table.rpartition(".")
        borrowers = {path: getattr(network.get_submodule(path), "embed_scale", 1.0) for path in cls.borrowers}
        if not lend(network, network.get_submodule(path), name, borrowers):
            raise Refused("its encoder, decoder and output have tables of their own, which is not supported; take a model that shares one")  # fmt: skip

    def take_units(self, keep: list[int]) -> None:
        """Each knows its number, by which transformers finds the keys and values that it kept."""
        super().take_units(keep)
        for number, unit in enumerate(self.units):
            for layer in unit:
                layer.attention.layer_idx = number

    @property
    def tokens(self) -> Any:
        return self.network.get_submodule(self.table)

    def tables(self) -> Iterator[str]:
        yield self.table
        yield from self.beside()

    @property
    def embeddings(self) -> list[nn.Module]:
        return [self.network.get_submodule(path) for path in self.tables()]

    def whole_token_tables(self) -> list[str]:
        return [self.table]

    def tables_by_token(self) -> Iterator[str]:
        raise Refused("vocabulary: a model that writes the pieces it reads keeps them all; leave 'vocabulary' out")

    def beside(self) -> list[str]:
        return [name for name, module in self.network.named_modules() if isinstance(module, Positions)]

    @property
    def constants(self) -> list[Any]:
        scales = [module.scale for module in self.network.modules() if isinstance(module, Borrowed)]
        return [(layer.heads, layer.head_width) for layer in self.attentions] + scales
