"""A matrix as the product of two thin ones, and a table as a narrow table with a projection."""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from niwaki.models.meta_device import on_meta_device

Factors = tuple[Tensor, Tensor]  # (out, rank) and (rank, in)


class Factored(nn.Module):
    """x → second(first(x)); the inner width is the rank. Both can be cut, packed and factored like any other matrix."""

    inner: ClassVar[tuple[str, ...]] = ("first", "second")
    first: Any
    second: Any

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second

    @classmethod
    def of(cls, left: Tensor, right: Tensor, bias: Tensor | None) -> "Factored":
        """From a weight left @ right, (out, rank) and (rank, in)."""
        return cls(linear_of(right, None), linear_of(left, bias))

    @property
    def in_features(self) -> int:
        return int(self.first.in_features)

    @property
    def out_features(self) -> int:
        return int(self.second.out_features)

    @property
    def rank(self) -> int:
        return int(self.second.in_features)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x))


class FactoredTable(nn.Module):
    """ids → up(table(ids)), as in ALBERT."""

    inner: ClassVar[tuple[str, ...]] = ("table", "up")
    table: Any
    up: Any

    def __init__(self, table: nn.Module, up: nn.Module) -> None:
        super().__init__()
        self.table, self.up = table, up

    @classmethod
    def of(cls, rows: Tensor, up: Tensor) -> "FactoredTable":
        """From a table rows @ up.T, (tokens, narrow) and (width, narrow)."""
        return cls(nn.Embedding.from_pretrained(rows.detach().clone(), freeze=False), linear_of(up, None))

    @property
    def num_embeddings(self) -> int:
        return int(self.table.num_embeddings)

    @property
    def embedding_dim(self) -> int:
        return int(self.up.out_features)

    def forward(self, ids: Tensor) -> Tensor:
        return self.up(self.table(ids))


def linear_of(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    """A linear layer with this weight (out, in) and bias."""
    with on_meta_device():  # skip the random initialization
        linear = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    linear.weight = nn.Parameter(weight.detach().clone().contiguous())
    if bias is not None:
        linear.bias = nn.Parameter(bias.detach().clone())
    return linear


def truncated(weight: Tensor, rank: int) -> Factors:
    """The best rank-`rank` approximation; both factors get the root of each singular value. On the meta device, only shapes."""
    if weight.is_meta:
        return weight.new_empty(weight.shape[0], rank), weight.new_empty(rank, weight.shape[1])
    left, values, right = torch.linalg.svd(weight.detach().double(), full_matrices=False)
    root = values[:rank].sqrt()
    return (left[:, :rank] * root).float(), (root[:, None] * right[:rank]).float()
