"""Sums of token and position vectors without a norm (Radford et al. 2018)."""

from collections.abc import Mapping

import torch
from torch import Tensor

from niwaki.models.parts.inputs._inputs import Inputs


class LearnedPositions(Inputs):
    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        ids, (positions,) = inputs["input_ids"], self.small_tables
        places = torch.arange(ids.shape[1], device=ids.device)
        summed = self.tokens(ids) + self.network.get_submodule(positions)(places)[None]  # (batch, tokens, hidden)
        return self.network.get_submodule(f"{self.family.body}.{self.paths.dropout}")(summed)
