"""What all families that write share: a decoder beside the encoder's layers, and how it writes a token further.

A family says where its decoder's `decoder_layers` are, what it makes of the last tokens (`embed_target`) and how likely each piece comes
next (`scores`).
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from niwaki.answers._beam_search import START
from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy
from niwaki.models.block import Block
from niwaki.models.decoding import KeyValue, cross_keys_and_values, run_decoder
from niwaki.models.encoder import DECODER_HIDDEN, HIDDEN, Record, run_layers
from niwaki.models.layer import Layer, has_attention, padding_bias
from niwaki.models.layout import Packed
from niwaki.models.tables import Positions, TiedEmbedding, tie_table


class Seq2SeqAnatomy(Anatomy):
    """`layers` and `order` are the encoder's; `attentions`, `blocks`, `matrices` and tables are of both."""

    is_seq2seq = has_decoder = True
    has_token_heads = False
    decoder_heads_key: ClassVar[str]  # names in the config
    decoder_ffn_size_key: ClassVar[str]
    decoder_depth_key: ClassVar[str] = "decoder_layers"
    decoder_layer_list: ClassVar[str]  # of the decoder's layers, from the network

    @property
    def max_generated(self) -> int:
        """Tokens for which it has positions."""
        return self.max_tokens

    def embed_target(self, ids: Tensor, first: Tensor | int) -> Tensor:
        """Tokens of what is written (batch, tokens), the first of them at a place, to (batch, tokens, width)."""
        raise NotImplementedError

    def scores(self, hidden: Tensor) -> Tensor:
        """What the decoder's last layer leaves, (…, width), to (…, pieces)."""
        raise NotImplementedError

    def encoder_output(self, hidden: Tensor) -> Tensor:
        """What the encoder's last layer leaves as the decoder reads it."""
        return hidden

    def target_bias(self, places: Tensor, tokens: int) -> Tensor | None:
        """What tokens at some places add to their attention to the first `tokens` ones, (1, heads, places, tokens), or None."""
        return None

    # ── what can be cut ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def stacks(self) -> dict[str, list[tuple[Layer, ...]]]:
        return {**super().stacks, "decoder layer": [*self.decoder_layers]}

    def keep_decoder_layers(self, keep: list[int]) -> None:
        modules = [own.module for own, _ in self.decoder_layers]
        self.network.set_submodule(self.decoder_layer_list, nn.ModuleList([modules[number] for number in keep]))
        setattr(self.network.config, self.decoder_depth_key, len(keep))

    def real_tokens(self, path: str, read: Tensor, written: Tensor) -> Tensor:
        """All of the decoder's but keys and values of what was read are given what is written."""
        names = {id(module): name for name, module in self.network.named_modules()}
        whole = [f"{names[id(own.module)]}." for own, _ in self.decoder_layers]
        others = [
            f"{names[id(other.module)]}.{other.path(part)}"
            for _, other in self.decoder_layers
            for part in ("key", "value")
        ]
        own = path.startswith(tuple(whole)) and not f"{path}.".startswith(tuple(f"{one}." for one in others))
        return written if own else read

    def shape(self, depth: int, hidden_size: int, heads: int, ffn_size: int) -> dict[str, int]:
        """The decoder's depth is its own."""
        own = {self.decoder_heads_key: heads, self.decoder_ffn_size_key: ffn_size}
        return {**super().shape(depth, hidden_size, heads, ffn_size), **own}

    @property
    def blocks(self) -> list[Block]:
        return [
            *super().blocks,
            *(Block(other.module, other.path("ffn_in"), other.path("ffn_out")) for _, other in self.decoder_layers),
        ]

    def update_config_ffn_size(self) -> None:
        config, depth = self.network.config, len(self.layers)
        for key, blocks in ((self.ffn_size_key, self.blocks[:depth]), (self.decoder_ffn_size_key, self.blocks[depth:])):
            counts = {block.ffn_size for block in blocks}
            if len(counts) == 1:
                setattr(config, key, counts.pop())

    def update_config_heads(self) -> None:
        super().update_config_heads()
        self.update_config_heads_of([layer for unit in self.decoder_layers for layer in unit], self.decoder_heads_key)

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
        rows = run_layers(run, layout.pack(embedded), layout, self.position_bias(embedded), True, record)
        hidden = self.embed_target(targets, 0)
        bias = self.target_bias(torch.arange(targets.shape[1], device=targets.device), targets.shape[1])
        memory = cross_keys_and_values(self.decoder_layers, layout.unpack(self.encoder_output(rows)))
        passed = record.get(DECODER_HIDDEN)
        if passed is not None:
            passed.append(hidden)
        return self.scores(
            run_decoder(self.decoder_layers, hidden, memory, padding_bias(mask, hidden), bias=bias, passed=passed)[0]
        )

    def encode(self, ids: Tensor, mask: Tensor, types: Tensor | None) -> list[KeyValue]:
        hidden = self.layer_range(self.embed(ids, types), mask, 0, len(self.order), every=True)
        return cross_keys_and_values(self.decoder_layers, self.encoder_output(hidden))

    def decode_step(
        self, ids: Tensor, place: Tensor, mask: Tensor, memory: list[KeyValue], past: list[KeyValue]
    ) -> tuple[Tensor, list[KeyValue]]:
        hidden = self.embed_target(ids.reshape(-1, 1), place).reshape(*ids.shape, -1)
        bias = self.target_bias(place.reshape(1), past[0][0].shape[2] + 1)
        hidden, past = run_decoder(self.decoder_layers, hidden, memory, padding_bias(mask, hidden), past, bias=bias)
        return torch.log_softmax(self.scores(hidden).float(), dim=-1), past

    def empty_past(self, hypotheses: int, like: Tensor) -> list[KeyValue]:
        sizes = [(own.heads, own.head_size) for own, _ in self.decoder_layers if has_attention(own)]
        return [(like.new_zeros(hypotheses, heads, 0, hidden_size),) * 2 for heads, hidden_size in sizes]

    def logits(self, ids: Tensor, mask: Tensor, types: Tensor | None) -> Tensor:
        """What writing as many tokens as are read takes, or as many as can be: the last one's scores (batch, pieces). For counting."""
        memory = self.encode(ids, mask, types)
        past, last = self.empty_past(len(ids), memory[0][0]), torch.full((len(ids), 1), START)  # any piece will do
        for place in range(min(ids.shape[1], self.max_generated)):
            scores, past = self.decode_step(last, torch.tensor(place), mask, memory, past)
            last = scores.argmax(dim=-1)
        return scores[:, 0]


class StockSeq2Seq(Seq2SeqAnatomy):
    """An encoder–decoder of transformers' own: one table of pieces for all that is read, written and scored."""

    has_own_tokenizer = True
    uses_token_types = False
    other_tables = ()
    table: ClassVar[str]  # of pieces, from the network
    borrowers: ClassVar[tuple[str, ...]]  # where transformers has modules of their own around it

    @classmethod
    def check_config(cls, config: dict[str, Any]) -> None:
        if config.get(cls.decoder_depth_key) == 0:
            raise InputError(
                f"config: {cls.decoder_depth_key} is 0; a {config['model_type']} writes with layers of its own, of which it needs one at least"
            )
        if config.get("tie_word_embeddings") is False:
            raise InputError(
                f"config: a {config['model_type']} whose output has numbers of its own is not supported (tie_word_embeddings); take one that shares its table"
            )

    @classmethod
    def adapt_network(cls, network: Any) -> None:
        path, _, name = cls.table.rpartition(".")
        borrowers = {path: getattr(network.get_submodule(path), "embed_scale", 1.0) for path in cls.borrowers}
        if not tie_table(network, network.get_submodule(path), name, borrowers):
            raise InputError(
                "its encoder, decoder and output have tables of their own, which is not supported; take a model that shares one"
            )

    def keep_decoder_layers(self, keep: list[int]) -> None:
        """Each knows its number, by which transformers finds the keys and values that it kept."""
        super().keep_decoder_layers(keep)
        for number, unit in enumerate(self.decoder_layers):
            for layer in unit:
                layer.attention.layer_idx = number

    @property
    def tokens(self) -> Any:
        return self.network.get_submodule(self.table)

    def tables(self) -> Iterator[str]:
        yield self.table
        yield from self.small_weights()

    @property
    def embeddings(self) -> list[nn.Module]:
        return [self.network.get_submodule(path) for path in self.tables()]

    def whole_token_tables(self) -> list[str]:
        return [self.table]

    def tables_by_token(self) -> Iterator[str]:
        raise InputError("vocabulary: a model that writes the pieces it reads keeps them all; leave 'vocabulary' out")

    def small_weights(self) -> list[str]:
        return [name for name, module in self.network.named_modules() if isinstance(module, Positions)]

    @property
    def constants(self) -> list[Any]:
        scales = [module.scale for module in self.network.modules() if isinstance(module, TiedEmbedding)]
        return [(layer.heads, layer.head_size) for layer in self.attentions] + scales
