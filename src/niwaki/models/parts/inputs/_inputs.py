"""An input stage makes the first hidden states of named input arrays."""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from niwaki.core.catalog import Catalog
from niwaki.models.family import Family, Network
from niwaki.models.parts._part import Part
from niwaki.models.prefix import taken_positions
from niwaki.models.value_rules import MOST_POSITIONS, NO_POSITIONS

INPUTS = Catalog("niwaki.models.parts.inputs", what="input stage")


class Inputs(Part):
    """Base of the files in `parts/inputs/`. All paths are from the network."""

    counts_positions: ClassVar[bool] = False  # whether `forward` reads `position_ids`
    has_vocabulary: ClassVar[bool] = True  # whether each token has a row of its own
    projects_tables: ClassVar[bool] = True  # whether the projection lies behind the tables, which then keep their width

    def __init__(self, network: Network, family: type[Family]) -> None:
        self.network, self.family, self.paths = network, family, family.inputs

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Arrays of (batch, tokens) to hidden states (batch, tokens, hidden)."""
        raise NotImplementedError

    def mask(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Which of the hidden states are real (batch, tokens)."""
        return inputs["attention_mask"]

    def example(self, rows: int, tokens: int) -> dict[str, Tensor]:
        """Inputs of so many texts of so many tokens, or of so many images."""
        ids = torch.ones(rows, tokens, dtype=torch.long)
        return {"input_ids": ids, "attention_mask": ids, "token_type_ids": torch.zeros_like(ids)}

    @property
    def tokens(self) -> Any:
        """The table with a vector for each token of the vocabulary."""
        return self.network.get_submodule(self.token_table)

    @property
    def prompt_tokens(self) -> int:
        """Vectors in front of every text (`models/prompt.py`)."""
        return int(getattr(self.tokens, "prompt_tokens", 0))

    @property
    def taken_positions(self) -> int:
        """Of a prefix that takes positions."""
        trunk: nn.Module = self.network.get_submodule(self.family.body)
        return taken_positions(self.family.layers(trunk))

    @property
    def token_table(self) -> str:
        return f"{self.family.body}.{self.paths.token_table}"

    @property
    def small_tables(self) -> list[str]:
        return [f"{self.family.body}.{path}" for path in self.paths.other_tables]

    @property
    def vocabulary_tables(self) -> list[str]:
        """Tables with a row for each token of the vocabulary; that of the vectors first."""
        return [self.token_table]

    @property
    def norms(self) -> list[str]:
        """Of the size of the embeddings."""
        return [f"{self.family.body}.{path}" for path in self.paths.norms]

    @property
    def projection(self) -> str:
        """The matrix behind the embeddings; "" where there is none."""
        return ""

    @property
    def modules(self) -> list[nn.Module]:
        """All that lies before the first layer."""
        return [self.network.get_submodule(path) for path in (self.token_table, *self.small_tables, *self.norms)]

    @property
    def max_tokens(self) -> int:
        if not self.paths.limited:
            most = NO_POSITIONS if self.family.decoder is None else MOST_POSITIONS
            return most - self.prompt_tokens
        taken = self.paths.skipped_positions + self.prompt_tokens + self.taken_positions
        return int(self.network.config.max_position_embeddings) - taken
