"""A decoder with a relative position bias, and norms behind the last layers of both sides (T5)."""

from typing import Any

import torch
from torch import Tensor

from niwaki.models.parts.decoders.shared_table import SharedTable


class Relative(SharedTable):
    native = None

    def encoder_output(self, hidden: Tensor) -> Tensor:
        encoder = self.network.encoder
        return encoder.dropout(encoder.final_layer_norm(hidden))

    def logits(self, hidden: Tensor) -> Tensor:
        decoder = self.network.decoder
        return self.network.lm_head(decoder.dropout(decoder.final_layer_norm(hidden)) * self._scale)

    @property
    def _scale(self) -> float:
        """The first T5 divides what its table scores by the root of the hidden size; T5 1.1 and mT5 do not."""
        is_scaled = getattr(self.network.config, "scale_decoder_outputs", False)
        return float(self.network.model_dim**-0.5) if is_scaled else 1.0

    @property
    def norms(self) -> list[str]:
        return ["encoder.final_layer_norm", "decoder.final_layer_norm"]

    @property
    def constants(self) -> list[object]:
        return [*super().constants, self._scale]

    def keep_layers(self, keep: list[int]) -> None:
        """The bias moves to the layer that is then the first."""
        first = self.layers[0][0].part("attention_module")
        super().keep_layers(keep)
        move_bias(first, self.layers[0][0].part("attention_module"))

    def position_bias(self, places: Tensor, tokens: int) -> Tensor | None:
        distances = torch.arange(tokens, device=places.device)[None] - places[:, None]
        return bias_at(self.layers[0][0].part("attention_module"), distances).permute(2, 0, 1)[None]


def bias_at(attention: Any, distances: Tensor) -> Tensor:
    """Distances from query to key, of any shape (…), to (…, heads)."""
    rows = attention._relative_position_bucket(
        distances,
        bidirectional=not attention.is_decoder,
        num_buckets=attention.relative_attention_num_buckets,
        max_distance=attention.relative_attention_max_distance,
    )
    found: Tensor = attention.relative_attention_bias(rows)
    return found


def move_bias(first: Any, now: Any) -> None:
    """The bias of the first layer's attention to another that takes its place."""
    if now is not first:
        now.relative_attention_bias, now.has_relative_attention_bias = first.relative_attention_bias, True
        del first.relative_attention_bias
        first.has_relative_attention_bias = False  # it may run later
