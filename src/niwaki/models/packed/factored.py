"""A matrix as the product of two thin ones, and a table as a narrow table behind which a matrix widens it."""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

Factors = tuple[Tensor, Tensor]  # (out, rank) and (rank, in)


class Factored(nn.Module):
    """x → second(first(x)); the inner width is the rank. Both are matrices like every other: cut, packed, factored again."""

    inner: ClassVar[tuple[str, ...]] = ("first", "second")
    first: Any
    second: Any

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second

    @classmethod
    def of(cls, left: Tensor, right: Tensor, bias: Tensor | None) -> "Factored":
        """Of a weight left @ right, (out, rank) and (rank, in)."""
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
    """ids → up(table(ids)), as ALBERT's embeddings."""

    inner: ClassVar[tuple[str, ...]] = ("table", "up")
    table: Any
    up: Any

    def __init__(self, table: nn.Module, up: nn.Module) -> None:
        super().__init__()
        self.table, self.up = table, up

    @classmethod
    def of(cls, rows: Tensor, up: Tensor) -> "FactoredTable":
        """Of a table rows @ up.T, (pieces, narrow) and (width, narrow)."""
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
    """A linear map with this weight (out, in) and bias."""
    with torch.device("meta"):  # its own numbers are not wanted
        linear = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    linear.weight = nn.Parameter(weight.detach().clone().contiguous())
    if bias is not None:
        linear.bias = nn.Parameter(bias.detach().clone())
    return linear


def truncated(weight: Tensor, rank: int) -> Factors:
    """The best product of two matrices of that rank; both get the root of each singular value. Of a skeleton, the shapes."""
    if weight.is_meta:
        return weight.new_empty(weight.shape[0], rank), weight.new_empty(rank, weight.shape[1])
    left, values, right = torch.linalg.svd(weight.detach().double(), full_matrices=False)
    root = values[:rank].sqrt()
    return (left[:, :rank] * root).float(), (root[:, None] * right[:rank]).float()
