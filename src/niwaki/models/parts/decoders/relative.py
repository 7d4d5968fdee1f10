"""A decoder with a relative position bias, and norms behind the last layers of both sides (T5)."""

from typing import Any, ClassVar

import torch
from torch import Tensor

from niwaki.models.parts.decoders.shared_table import SharedTable


class Relative(SharedTable):
    native: ClassVar[str | None] = "relative"

    def encoder_output(self, hidden: Tensor) -> Tensor:
        encoder = self.network.encoder
        return encoder.dropout(encoder.final_layer_norm(hidden))

    def logits(self, hidden: Tensor) -> Tensor:
        decoder = self.network.decoder
        return self.network.lm_head(decoder.dropout(decoder.final_layer_norm(hidden)) * self.output_scale)

    @property
    def output_scale(self) -> float:
        """The first T5 divides what its table scores by the root of the hidden size; T5 1.1 and mT5 do not."""
        is_scaled = getattr(self.network.config, "scale_decoder_outputs", False)
        return float(self.network.model_dim**-0.5) if is_scaled else 1.0

    @property
    def norms(self) -> list[str]:
        return ["encoder.final_layer_norm", "decoder.final_layer_norm"]

    @property
    def constants(self) -> list[object]:
        return [*super().constants, self.output_scale]

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
    found: Tensor = attention.relative_attention_bias(rows_at(attention, distances))
    return found


def rows_at(attention: Any, distances: Tensor) -> Tensor:
    """The rows of the table for distances from query to key."""
    found: Tensor = attention._relative_position_bucket(
        distances,
        bidirectional=not attention.is_decoder,
        num_buckets=attention.relative_attention_num_buckets,
        max_distance=attention.relative_attention_max_distance,
    )
    return found


def rows_by_distance(attention: Any, longest: int) -> list[int]:
    """The rows of the table for the distances of texts, the most negative first; further ones than the last share its row."""
    reach = min(longest - 1, attention.relative_attention_max_distance)
    return [int(row) for row in rows_at(attention, torch.arange(-reach, reach + 1))]


def move_bias(first: Any, now: Any) -> None:
    """The bias of the first layer's attention to another that takes its place."""
    if now is not first:
        now.relative_attention_bias, now.has_relative_attention_bias = first.relative_attention_bias, True
        del first.relative_attention_bias
        first.has_relative_attention_bias = False  # it may run later
