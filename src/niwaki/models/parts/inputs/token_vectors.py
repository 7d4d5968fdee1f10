"""Token vectors alone, for networks without attention."""

from collections.abc import Mapping

from torch import Tensor

from niwaki.models.parts.inputs._inputs import Inputs


class TokenVectors(Inputs):
    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        return self.tokens(inputs["input_ids"])

    @property
    def vocabulary_tables(self) -> list[str]:
        return [self.token_table, *self.small_tables]
