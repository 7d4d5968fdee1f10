"""A head makes logits of hidden states."""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.core.catalog import Catalog
from niwaki.models.family import Family, Network
from niwaki.models.parts._part import Part

HEADS = Catalog("niwaki.models.parts.heads", what="head")
ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "gelu": functional.gelu}


class TaskHead(Part):
    """Base of the files in `parts/heads/`. All paths are from the network.

    One that is an `nn.Module` is built as `TaskHead(hidden_size, labels, settings)`.
    """

    architecture: ClassVar[str] = ""  # how the names of transformers' classes with such a head end
    auto_class: ClassVar[str] = ""  # what builds one from a config
    per_token: ClassVar[bool] = False  # logits for every token; else it reads the first token's hidden state alone
    generates: ClassVar[bool] = False  # the logits are of the next token
    outputs: ClassVar[tuple[str, ...]] = ("logits",)  # of an exported graph; a second one holds the last hidden states

    def __init__(self, network: Network, family: type[Family]) -> None:
        self.network, self.paths = network, family.head

    @property
    def pools(self) -> bool:
        """Whether `pool` reads the hidden states of all tokens, and `forward` what it returns."""
        return False

    @property
    def inner(self) -> tuple[str, ...]:
        """Matrices from hidden states to hidden states."""
        return ()

    @property
    def final(self) -> str:
        """The last matrix; "" where a table of tokens takes its place."""
        return ""

    @property
    def activation(self) -> str:
        """Between the matrices."""
        return "none"

    def pool(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Padded hidden states (batch, tokens, hidden) and their mask to (batch, hidden), for heads that pool."""
        raise NotImplementedError

    def forward(self, hidden: Tensor) -> Tensor:
        """(…, hidden) to (…, labels) for heads per token, else (batch, ≥1, hidden) to (batch, labels)."""
        raise NotImplementedError


class PerToken(TaskHead):
    """One matrix on every token's hidden state."""

    per_token = True
    native = "dense"

    def forward(self, hidden: Tensor) -> Tensor:
        dropout = getattr(self.network, "dropout", None)  # some families have one here
        return self.network.get_submodule(self.final)(hidden if dropout is None else dropout(hidden))
