"""Token embeddings of an encoder-decoder that has one table for its input, its output and its logits (BART, Marian, T5)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.models.parts.inputs._inputs import Inputs
from niwaki.models.tables import Positions


class SharedTable(Inputs):
    """The paths of its tables are from the network. Encoder and decoder are embedded alike."""

    native: ClassVar[str | None] = "shared_table"

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        return embed(self.network.get_encoder(), inputs["input_ids"], 0)

    @property
    def token_table(self) -> str:
        return self.paths.token_table

    @property
    def small_tables(self) -> list[str]:
        return [name for name, module in self.network.named_modules() if isinstance(module, Positions)]

    @property
    def norms(self) -> list[str]:
        return list(self.paths.norms)


def embed(side: Any, ids: Tensor, first: Tensor | int) -> Tensor:
    """Tokens (batch, tokens) of an encoder or a decoder, the first of them at position `first`, to (batch, tokens, hidden)."""
    found = side.embed_tokens(ids)
    if hasattr(side, "embed_positions"):
        found = found + side.embed_positions.at(torch.arange(ids.shape[1], device=ids.device) + first)
    if hasattr(side, "layernorm_embedding"):
        found = side.layernorm_embedding(found)
    dropout = side.dropout
    return dropout(found) if callable(dropout) else functional.dropout(found, dropout, side.training)
