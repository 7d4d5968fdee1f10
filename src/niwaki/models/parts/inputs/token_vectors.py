"""Token vectors alone, for networks whose layers know positions by themselves."""

from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor

from niwaki.models.parts.inputs._inputs import Inputs


class TokenVectors(Inputs):
    native: ClassVar[str | None] = "token_vectors"

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        vectors = self.tokens(inputs["input_ids"])
        dropout = self.paths.dropout
        return self.network.get_submodule(f"{self.family.body}.{dropout}")(vectors) if dropout else vectors

    @property
    def vocabulary_tables(self) -> list[str]:
        return [self.token_table, *self.small_tables]
