"""Sums of token, position and type embeddings behind a norm (Devlin et al. 2019), and a projection where they are narrow."""

from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor, nn

from niwaki.models.parts.inputs._inputs import Inputs


class TokenEmbeddings(Inputs):
    native: ClassVar[str | None] = "token_embeddings"
    counts_positions = True

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        types = inputs.get("token_type_ids") if self.paths.uses_token_types else None
        arguments = {} if types is None else {"token_type_ids": types}
        if "position_ids" in inputs:  # else tokens are counted
            arguments["position_ids"] = inputs["position_ids"]
        trunk = self.network.get_submodule(self.family.body)
        hidden = trunk.embeddings(input_ids=inputs["input_ids"], **arguments)
        return self.network.get_submodule(self.projection)(hidden) if self.projection else hidden

    @property
    def projection(self) -> str:
        path = f"{self.family.body}.{self.paths.projection}" if self.paths.projection else ""
        return path if path and _has(self.network, path) else ""

    @property
    def modules(self) -> list[nn.Module]:
        return [self.network.get_submodule(f"{self.family.body}.embeddings")]


def _has(network: nn.Module, path: str) -> bool:
    parent, _, name = path.rpartition(".")
    return name in network.get_submodule(parent)._modules
