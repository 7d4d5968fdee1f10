"""A network that writes without a decoder: the layers that read also write. A token reads the whole text, and what was written up to it
(a prefix mask). What can be cut is the encoder's, and all of it is asked twice: for what is read, and for what is written.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from niwaki.models.block import Block
from niwaki.models.decoding import Pair, Unit, prefix, prefixed
from niwaki.models.encoder import DECODER_HIDDEN, HIDDEN, SCORES, Record, encode
from niwaki.models.families._writing import Writing
from niwaki.models.families.writer import Writer
from niwaki.models.layer import Layer, ignored, keys_and_values, reads
from niwaki.models.layout import Padded


class Prefix(Writer):
    decodes = False

    @property
    def units(self) -> list[Unit]:
        """Of each layer that is run, its one attention to both."""
        layers = self.layers
        return [(layers[number], layers[number]) for number in self.order]

    def real_tokens(self, path: str, read: Tensor, written: Tensor) -> Tensor:
        return torch.cat([read, written], dim=1)

    @property
    def stacks(self) -> dict[str, list[tuple[Layer, ...]]]:
        return super(Writing, self).stacks

    @property
    def blocks(self) -> list[Block]:
        return super(Writing, self).blocks

    def shape(self, depth: int, width: int, heads: int, neurons: int) -> dict[str, int]:
        return super(Writing, self).shape(depth, width, heads, neurons)

    def tell_neurons(self) -> None:
        super(Writing, self).tell_neurons()

    def tell_heads(self) -> None:
        super(Writing, self).tell_heads()

    def run(self, inputs: Mapping[str, Tensor], record: Record) -> Tensor:
        """What is read and what is written go through the layers as one row of tokens, under a prefix mask."""
        ids, targets = inputs["input_ids"], inputs["decoder_input_ids"]
        read, written = self.embed(ids, inputs.get("token_type_ids")), self.embed_written(targets, 0)
        both, tokens = torch.cat([read, written], dim=1), ids.shape[1]
        mask_bias = prefix(ignored(inputs["attention_mask"], both), written)
        inner: Record = {HIDDEN if name == DECODER_HIDDEN else name: [] for name in record}
        rows = encode([layer for layer, _ in self.units], both, Padded(mask_bias), None, True, inner)
        inner.get(HIDDEN, []).insert(0, both)
        for name, found in record.items():
            if name == DECODER_HIDDEN:
                found += [one[:, tokens:] for one in inner[HIDDEN]]
            else:
                found += [one[..., :tokens, :tokens] if name == SCORES else one[:, :tokens] for one in inner[name]]
        return self.scores(rows[:, tokens:])

    def remember(self, ids: Tensor, mask: Tensor, types: Tensor | None) -> list[Pair]:
        hidden, memory = self.embed(ids, types), []
        for depth, (layer, _) in enumerate(self.units):
            if reads(layer):
                memory.append(keys_and_values(layer, layer.before("attention_norm", hidden)))
            hidden = self.layer_range(hidden, mask, depth, depth + 1, every=True)
        return memory

    def step(
        self, ids: Tensor, place: Tensor, mask: Tensor, memory: list[Pair], past: list[Pair]
    ) -> tuple[Tensor, list[Pair]]:
        hidden = self.embed_written(ids.reshape(-1, 1), place).reshape(*ids.shape, -1)
        hidden, past = prefixed([layer for layer, _ in self.units], hidden, memory, ignored(mask, hidden), past)
        return torch.log_softmax(self.scores(hidden).float(), dim=-1), past
