"""No layers of its own: the encoder's layers generate too. Each token reads the whole input and the tokens generated before it
(a prefix mask, Dong et al. 2019)."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from niwaki.models.attention import padding_bias, prefix_bias
from niwaki.models.decoding import DecoderLayer, KeyValue, run_prefix_decoder
from niwaki.models.forward import layer_range, run_layers
from niwaki.models.layer import Layer
from niwaki.models.layout import Padded
from niwaki.models.parts.decoders.own_table import OwnTable
from niwaki.models.record import DECODER_HIDDEN, HIDDEN, SCORES, Record
from niwaki.models.recorded import Recorded


class Prefix(OwnTable):
    native = None
    no_native = "the encoder's own layers generate, which the decoder in C does not share"
    has_own_layers = False

    @property
    def layers(self) -> list[DecoderLayer]:
        """The one attention of each layer, as that to both."""
        return [(layer, layer) for layer in self._run]

    @property
    def _run(self) -> list[Layer]:
        layers = self.anatomy.layers
        return [layers[number] for number in self.anatomy.order]

    def real_tokens(self, path: str, read: Tensor, generated: Tensor) -> Tensor:
        return torch.cat([read, generated], dim=1)

    def forward(self, inputs: Mapping[str, Tensor], record: Record, predicted: Tensor | None = None) -> Tensor:
        """Input and generated tokens go through the layers as one sequence."""
        mask, targets = inputs["attention_mask"], inputs["decoder_input_ids"]
        read, generated = self.anatomy.inputs.forward(inputs), self.embed(targets, 0)
        both, tokens = torch.cat([read, generated], dim=1), mask.shape[1]
        real = torch.cat([mask, torch.ones_like(targets)], dim=1)
        layout = Padded(real, both, prefix_bias(padding_bias(mask, both), generated))
        inner: Record = {HIDDEN if name == DECODER_HIDDEN else name: [] for name in record}
        inner.get(HIDDEN, []).append(both)
        rows, _ = run_layers(self._run, both, layout, True, inner)
        for name, found in record.items():
            if name == DECODER_HIDDEN:
                found += [one[:, tokens:] for one in Recorded(inner[HIDDEN])]
            else:
                found += [
                    one[..., :tokens, :tokens] if name == SCORES else one[:, :tokens] for one in Recorded(inner[name])
                ]
        return self.logits(rows[:, tokens:] if predicted is None else rows[:, tokens:][predicted])

    def encode(self, inputs: Mapping[str, Tensor]) -> list[KeyValue]:
        hidden, memory = self.anatomy.inputs.forward(inputs), []
        for depth, layer in enumerate(self._run):
            if not layer.mixer.removed:
                memory.append(layer.mixer.keys_and_values(layer.before("attention_norm", hidden)))
            hidden = layer_range(self.anatomy, hidden, inputs, depth, depth + 1, every=True)
        return memory

    def decode_step(
        self, ids: Tensor, place: Tensor, mask: Tensor, memory: Sequence[KeyValue], past: Sequence[KeyValue]
    ) -> tuple[Tensor, list[KeyValue]]:
        hidden = self.embed(ids.reshape(-1, 1), place).reshape(*ids.shape, -1)
        hidden, now = run_prefix_decoder(self._run, hidden, memory, padding_bias(mask, hidden), past)
        return torch.log_softmax(self.logits(hidden).float(), dim=-1), now
