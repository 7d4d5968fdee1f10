"""A store holds the values of a matrix and returns them as floats."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from niwaki.models.packed.factored import linear_of
from niwaki.models.packed.product import product


class Store(nn.Module):
    """Returns (rows, columns) floats when called; trainable values get gradients."""

    rows: int
    columns: int
    integers = False  # whether exported products may use 8-bit integers

    def forward(self) -> Tensor:
        raise NotImplementedError

    def some(self, ids: Tensor) -> Tensor:
        """The rows with these ids, (…, columns)."""
        return self()[ids]

    def repack(self, weight: Tensor) -> "Store":
        """Store another matrix in the same way."""
        raise NotImplementedError

    def packed(self) -> "Store":
        """The store with at most 8 bits per value."""
        return self


class Floats(Store):
    """Plain floats, which can be trained."""

    def __init__(self, values: Tensor) -> None:
        super().__init__()
        self.rows, self.columns = values.shape
        self.values = nn.Parameter(values.detach().clone().contiguous())

    def forward(self) -> Tensor:
        return self.values

    def repack(self, weight: Tensor) -> "Floats":
        return Floats(weight)


class StoredLinear(nn.Module):
    """A linear layer whose weight (out, in) is in a store. If the values are integers times scales, the exported product uses 8-bit
    integers, unpacked once when the engine loads the graph."""

    def __init__(self, store: Store, bias: Tensor | None) -> None:
        super().__init__()
        self.store = store
        self.bias: Any = None if bias is None else nn.Parameter(bias.detach().clone())

    @property
    def in_features(self) -> int:
        return self.store.columns

    @property
    def out_features(self) -> int:
        return self.store.rows

    def forward(self, x: Tensor) -> Tensor:
        if not torch.onnx.is_in_onnx_export() and not any(one.requires_grad for one in self.store.parameters()):
            return product(x, self.bias, self.store)
        weight = self.store()
        if self.store.integers and torch.onnx.is_in_onnx_export():
            bias = weight.new_zeros(self.out_features) if self.bias is None else self.bias
            return _RoundedProduct.apply(x, weight, bias, x.ndim, self.out_features)
        return functional.linear(x, weight.to(x.dtype), None if self.bias is None else self.bias.to(x.dtype))

    def to_dense(self) -> nn.Linear:
        return linear_of(self.store(), self.bias)

    def packed(self) -> "StoredLinear":
        return StoredLinear(self.store.packed(), self.bias)

    def repack(self, linear: nn.Linear) -> "StoredLinear":
        return StoredLinear(self.store.repack(linear.weight.detach()), linear.bias)


class StoredTable(nn.Module):
    """An embedding table (tokens, width) whose rows are in a store."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store

    @property
    def num_embeddings(self) -> int:
        return self.store.rows

    @property
    def embedding_dim(self) -> int:
        return self.store.columns

    def forward(self, ids: Tensor) -> Tensor:
        return self.store.some(ids)

    def to_dense(self) -> nn.Embedding:
        return nn.Embedding.from_pretrained(self.store().detach().clone(), freeze=False)

    def repack(self, table: nn.Embedding) -> "StoredTable":
        return StoredTable(self.store.repack(table.weight.detach()))


class _RoundedProduct(torch.autograd.Function):
    """A product with weights rounded to 8 bits per row, until `engines.expand` replaces it by ONNX operators."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, rank: int, outputs: int) -> Tensor:
        return functional.linear(x, weight, bias)

    @staticmethod
    def symbolic(g: Any, x: object, weight: object, bias: object, rank: int, outputs: int) -> Any:
        return shaped(g.op("niwaki::RoundedProduct", x, weight, bias), bias, [None] * (rank - 1) + [outputs])


def shaped(value: Any, like: Any, sizes: list[int | None]) -> Any:
    """Tell the exporter the output type of a custom operator: floats of these sizes."""
    value.setType(like.type().with_dtype(torch.float32).with_sizes(sizes))
    return value
