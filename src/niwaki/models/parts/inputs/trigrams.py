"""Embeddings that read three tokens (MobileBERT, Sun et al. 2020): the vectors of a token and of both neighbours, side by side, through one
matrix. A text has no neighbours beyond its ends, so it is embedded alike in every batch."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.models.parts.inputs.token_embeddings import TokenEmbeddings


class Trigrams(TokenEmbeddings):
    native = None
    no_native = "vectors of three neighbours are concatenated"

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        stage = self.network.get_submodule(f"{self.family.body}.embeddings")
        vectors = self.tokens(ids) * mask[..., None]
        after, before = functional.pad(vectors, (0, 0, 0, 1))[:, 1:], functional.pad(vectors, (0, 0, 1, 0))[:, :-1]
        narrow = torch.cat([after, vectors, before], dim=-1)  # (batch, tokens, 3 × embedding)
        places = inputs.get("position_ids")
        places = torch.arange(ids.shape[1], device=ids.device)[None] if places is None else places
        types = inputs.get("token_type_ids", torch.zeros_like(ids))
        found = self.network.get_submodule(self.projection)(narrow)
        found = found + stage.get_submodule("position_embeddings")(places)
        found = found + stage.get_submodule("token_type_embeddings")(types)
        return stage.get_submodule("dropout")(stage.get_submodule("LayerNorm")(found))
