"""A network that writes without a decoder: the layers that read also write. A token reads the whole text, and what was written up to it
(a prefix mask). What can be cut is the encoder's, and all of it is asked twice: for what is read, and for what is written.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from niwaki.models.block import Block
from niwaki.models.decoding import DecoderLayer, KeyValue, prefix_mask, run_prefix_decoder
from niwaki.models.encoder import DECODER_HIDDEN, HIDDEN, SCORES, Record, run_layers
from niwaki.models.families._seq2seq import Seq2SeqAnatomy
from niwaki.models.families.encoder_decoder import EncoderDecoder
from niwaki.models.layer import Layer, has_attention, keys_and_values, padding_bias
from niwaki.models.layout import Padded


class PrefixLM(EncoderDecoder):
    has_decoder = False

    @property
    def decoder_layers(self) -> list[DecoderLayer]:
        """Of each layer that is run, its one attention to both."""
        layers = self.layers
        return [(layers[number], layers[number]) for number in self.order]

    def real_tokens(self, path: str, read: Tensor, written: Tensor) -> Tensor:
        return torch.cat([read, written], dim=1)

    @property
    def stacks(self) -> dict[str, list[tuple[Layer, ...]]]:
        return super(Seq2SeqAnatomy, self).stacks

    @property
    def blocks(self) -> list[Block]:
        return super(Seq2SeqAnatomy, self).blocks

    def shape(self, depth: int, hidden_size: int, heads: int, ffn_size: int) -> dict[str, int]:
        return super(Seq2SeqAnatomy, self).shape(depth, hidden_size, heads, ffn_size)

    def update_config_ffn_size(self) -> None:
        super(Seq2SeqAnatomy, self).update_config_ffn_size()

    def update_config_heads(self) -> None:
        super(Seq2SeqAnatomy, self).update_config_heads()

    def run(self, inputs: Mapping[str, Tensor], record: Record) -> Tensor:
        """What is read and what is written go through the layers as one row of tokens, under a prefix mask."""
        ids, targets = inputs["input_ids"], inputs["decoder_input_ids"]
        read, written = self.embed(ids, inputs.get("token_type_ids")), self.embed_target(targets, 0)
        both, tokens = torch.cat([read, written], dim=1), ids.shape[1]
        mask_bias = prefix_mask(padding_bias(inputs["attention_mask"], both), written)
        inner: Record = {HIDDEN if name == DECODER_HIDDEN else name: [] for name in record}
        rows = run_layers([layer for layer, _ in self.decoder_layers], both, Padded(mask_bias), None, True, inner)
        inner.get(HIDDEN, []).insert(0, both)
        for name, found in record.items():
            if name == DECODER_HIDDEN:
                found += [one[:, tokens:] for one in inner[HIDDEN]]
            else:
                found += [one[..., :tokens, :tokens] if name == SCORES else one[:, :tokens] for one in inner[name]]
        return self.scores(rows[:, tokens:])

    def encode(self, ids: Tensor, mask: Tensor, types: Tensor | None) -> list[KeyValue]:
        hidden, memory = self.embed(ids, types), []
        for depth, (layer, _) in enumerate(self.decoder_layers):
            if has_attention(layer):
                memory.append(keys_and_values(layer, layer.before("attention_norm", hidden)))
            hidden = self.layer_range(hidden, mask, depth, depth + 1, every=True)
        return memory

    def decode_step(
        self, ids: Tensor, place: Tensor, mask: Tensor, memory: list[KeyValue], past: list[KeyValue]
    ) -> tuple[Tensor, list[KeyValue]]:
        hidden = self.embed_target(ids.reshape(-1, 1), place).reshape(*ids.shape, -1)
        hidden, past = run_prefix_decoder(
            [layer for layer, _ in self.decoder_layers], hidden, memory, padding_bias(mask, hidden), past
        )
        return torch.log_softmax(self.scores(hidden).float(), dim=-1), past
