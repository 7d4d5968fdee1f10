"""Sums of token and position vectors (Radford et al. 2018), behind a norm where the family has one."""

from collections.abc import Mapping
from operator import attrgetter
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.models.parts.inputs._inputs import Inputs


class LearnedPositions(Inputs):
    native: ClassVar[str | None] = "learned_positions"

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        ids, (positions,) = inputs["input_ids"], self.small_tables
        places = torch.arange(ids.shape[1], device=ids.device)
        summed = self.tokens(ids) + self.network.get_submodule(positions)(places)[None]  # (batch, tokens, hidden)
        for norm in self.norms:
            summed = self.network.get_submodule(norm)(summed)
        found = attrgetter(f"{self.family.body}.{self.paths.dropout}")(self.network)  # a module, or the rate
        return found(summed) if callable(found) else functional.dropout(summed, found, self.network.training)
