"""Characters to fewer vectors (CANINE, Clark et al. 2021): one layer with attention among near characters, then one vector for every four.

The first vector is that of the class token; behind it follow the groups of characters that begin before the last one. The layers read these
vectors, so a text has a quarter as many of them. As in transformers for texts padded to a multiple of the group size.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.models.family import Network
from niwaki.models.layout import Padded
from niwaki.models.parts.inputs._inputs import Inputs

if TYPE_CHECKING:
    from niwaki.models.layer import Layer

NEAR = "initial_char_encoder.layer.0"  # relative to the body


class Characters(Inputs):
    no_native = "it hashes characters and attends within neighbourhoods before the layers"
    has_vocabulary = False

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        trunk = self.network.get_submodule(self.family.body)
        from niwaki.models.layer_kinds import layer_of

        hidden = near_attention(
            layer_of(self.family, trunk.get_submodule(NEAR)),
            self._embedded(inputs),
            inputs["attention_mask"],
            int(self.network.config.local_transformer_stride),
        )
        return self._grouped(hidden, trunk.get_submodule("chars_to_molecules"))

    def mask(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """A vector is real if the first character of its group is."""
        return inputs["attention_mask"][:, :: self._group]

    @property
    def _group(self) -> int:
        return int(self.network.config.downsampling_rate)

    def _embedded(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """(batch, characters, hidden)"""
        ids = inputs["input_ids"]
        stage = self.network.get_submodule(f"{self.family.body}.char_embeddings")
        types = inputs.get("token_type_ids", torch.zeros_like(ids))
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        found = self.tokens(ids) + stage.get_submodule("token_type_embeddings")(types)
        found = found + stage.get_submodule("char_position_embeddings")(places)
        return stage.get_submodule("dropout")(stage.get_submodule("LayerNorm")(found))

    def _grouped(self, hidden: Tensor, stage: Network) -> Tensor:
        """A matrix on the characters of each whole group but the last, which is left out; the class token in front."""
        batch, tokens, size = hidden.shape
        whole = (tokens - 1) // self._group
        groups = hidden[:, : whole * self._group].reshape(batch, whole, self._group * size)
        weight = stage.conv.weight.transpose(1, 2).flatten(1)  # (hidden, group × hidden)
        grouped = stage.activation(functional.linear(groups, weight, stage.conv.bias))
        return stage.LayerNorm(torch.cat([hidden[:, :1], grouped], dim=1))


def near_attention(layer: "Layer", hidden: Tensor, mask: Tensor, stride: int) -> Tensor:
    """A layer over each stretch of `stride` characters by itself."""
    batch, tokens, size = hidden.shape
    if not torch.jit.is_tracing():
        stride = min(stride, tokens)
    stretches = (tokens + stride - 1) // stride
    missing = stretches * stride - tokens
    near = functional.pad(hidden, (0, 0, 0, missing)).reshape(batch * stretches, stride, size)
    real = functional.pad(mask, (0, missing)).reshape(batch * stretches, stride)
    found, _ = layer.run(near, Padded(real, near), True, {})
    return found.reshape(batch, stretches * stride, size)[:, :tokens]
