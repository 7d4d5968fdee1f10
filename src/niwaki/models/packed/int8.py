"""8-bit integer weights with a scale per output or per row.

In torch the weights are unpacked and multiplied in float, which is exact enough to train the rest. The engine is fast: exported,
`Int8Linear` is an integer product (`IntegerProduct`).
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from niwaki.models.packed.factored import linear_of
from niwaki.models.packed.product import product


def quantize_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """(rows, columns) to symmetric int8 with one scale per row; the largest magnitude of a row becomes 127."""
    if weight.is_meta:  # the operations below would take milliseconds per matrix
        return torch.empty_like(weight, dtype=torch.int8), weight.new_empty(len(weight), dtype=torch.float32)
    scale = weight.detach().abs().amax(dim=1).clamp(min=1e-12) / 127
    return (weight.detach() / scale[:, None]).round().clamp(-127, 127).to(torch.int8), scale.float()


def pack_int8(module: Any) -> nn.Module:
    """The module with 8-bit weights: matrices, tables, and modules with a `packed()` of their own."""
    if isinstance(module, nn.Linear):
        return Int8Linear.of(module)
    if isinstance(module, nn.Embedding):
        return Int8Embedding.of(module)
    return module.packed() if hasattr(module, "packed") else module


class Int8Linear(nn.Module):
    """A linear layer with int8 weights, stored as (in, out) for the exported integer product."""

    weight: Tensor
    scale: Tensor
    bias: Tensor

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.register_buffer("weight", torch.zeros(in_features, out_features, dtype=torch.int8))
        self.register_buffer("scale", torch.ones(out_features))
        self.register_buffer("bias", torch.zeros(out_features))

    @classmethod
    def of(cls, linear: nn.Linear) -> "Int8Linear":
        with torch.device(linear.weight.device):  # a skeleton on the meta device takes no memory
            packed = cls(linear.in_features, linear.out_features)
        weight, packed.scale = quantize_rows(linear.weight)  # (out, in)
        packed.weight = weight.T.contiguous()
        if linear.bias is not None:
            packed.bias = linear.bias.detach().clone()
        return packed

    def forward(self, x: Tensor) -> Tensor:
        if torch.onnx.is_in_onnx_export():
            return IntegerProduct.apply(x, self.weight, self.scale, self.bias)
        return product(x, self.bias, self.unpacked)

    def unpacked(self) -> Tensor:
        """The weight (out, in)."""
        return (self.weight * self.scale).T

    def to_dense(self) -> nn.Linear:
        return linear_of(self.unpacked(), self.bias)

    def repack(self, linear: nn.Linear) -> "Int8Linear":
        return Int8Linear.of(linear)


class Int8Embedding(nn.Module):
    """An embedding table with int8 rows and a scale per row."""

    weight: Tensor
    scale: Tensor

    def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.register_buffer("weight", torch.zeros(num_embeddings, embedding_dim, dtype=torch.int8))
        self.register_buffer("scale", torch.ones(num_embeddings))

    @classmethod
    def of(cls, table: nn.Embedding) -> "Int8Embedding":
        with torch.device(table.weight.device):
            packed = cls(table.num_embeddings, table.embedding_dim)
        packed.weight, packed.scale = quantize_rows(table.weight)
        return packed

    def forward(self, ids: Tensor) -> Tensor:
        return self.weight[ids].float() * self.scale[ids][..., None]

    def scores(self, hidden: Tensor) -> Tensor:
        """(…, width) to (…, rows): the product with every row."""
        if torch.onnx.is_in_onnx_export():
            return IntegerProduct.apply(hidden, self.weight.T, self.scale, torch.zeros_like(self.scale))
        return (hidden @ self.weight.T.to(hidden.dtype)) * self.scale.to(hidden.dtype)

    def to_dense(self) -> nn.Embedding:
        return nn.Embedding.from_pretrained(self.weight.float() * self.scale[:, None], freeze=False)

    def repack(self, table: nn.Embedding) -> "Int8Embedding":
        return Int8Embedding.of(table)


class IntegerProduct(torch.autograd.Function):
    """`Int8Linear` in an ONNX graph: quantize activations to uint8 at run time, integer product, rescale, add bias."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
        return functional.linear(x, (weight * scale).T, bias)

    @staticmethod
    def symbolic(g: Any, x: object, weight: object, scale: object, bias: object) -> Any:
        codes, step, zero = g.op("DynamicQuantizeLinear", x, outputs=3)
        total = g.op("Cast", g.op("MatMulInteger", codes, weight, zero), to_i=1)  # 1 = float32
        return g.op("Add", g.op("Mul", total, g.op("Mul", step, scale)), bias)
