"""A linear layer with 8-bit weights whose inputs are rounded to 8 bits with a fixed range.

Nothing is measured at run time, so a prediction does not depend on the other texts of its batch. torch rounds the inputs as the engine
does, so that the rest can be trained with it; an input between two steps may be rounded either way.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from niwaki.models.packed.factored import linear_of
from niwaki.models.packed.int8 import quantize_rows
from niwaki.models.packed.rounding import stepped, straight

Range = tuple[Tensor, Tensor]  # step and zero point


class StaticInt8Linear(nn.Module):
    """Weights are stored as (in, out) for the engine's integer product."""

    weight: Tensor
    scale: Tensor
    step: Tensor
    zero: Tensor

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.register_buffer("weight", torch.zeros(in_features, out_features, dtype=torch.int8))
        self.register_buffer("scale", torch.ones(out_features))
        self.register_buffer("step", torch.ones(()))
        self.register_buffer("zero", torch.zeros((), dtype=torch.uint8))
        self.bias = nn.Parameter(torch.zeros(out_features))

    @classmethod
    def of(cls, linear: nn.Linear, given: Range | None = None) -> "StaticInt8Linear":
        """`given` is the range of the inputs; None if it will be loaded."""
        with torch.device(linear.weight.device):
            packed = cls(linear.in_features, linear.out_features)
        weight, packed.scale = quantize_rows(linear.weight)  # (out, in)
        packed.weight = weight.T.contiguous()
        if linear.bias is not None:
            packed.bias = nn.Parameter(linear.bias.detach().clone())
        if given is not None:
            packed.step, packed.zero = given[0].detach().float().clone(), given[1].detach().to(torch.uint8).clone()
        return packed

    def forward(self, x: Tensor) -> Tensor:
        if torch.onnx.is_in_onnx_export():
            return _StaticProduct.apply(x, self.weight, self.scale, self.bias, self.step, self.zero)
        seen = straight(x, stepped(x.detach().float(), self.step, self.zero.float()).to(x.dtype))
        return functional.linear(seen, (self.weight * self.scale).T.to(x.dtype), self.bias.to(x.dtype))

    def to_dense(self) -> nn.Linear:
        return linear_of((self.weight * self.scale).T, self.bias)

    def repack(self, linear: nn.Linear) -> "StaticInt8Linear":
        """Another matrix with the same input range."""
        return StaticInt8Linear.of(linear, (self.step, self.zero))


class _StaticProduct(torch.autograd.Function):
    """`StaticInt8Linear` in an ONNX graph: an integer product."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, scale: Tensor, bias: Tensor, step: Tensor, zero: Tensor) -> Tensor:
        return functional.linear(x, (weight * scale).T, bias)

    @staticmethod
    def symbolic(g: Any, x: object, weight: object, scale: object, bias: object, step: object, zero: object) -> Any:
        codes = g.op("QuantizeLinear", x, step, zero)
        total = g.op("Cast", g.op("MatMulInteger", codes, weight, zero), to_i=1)  # 1 = float32
        return g.op("Add", g.op("Mul", total, g.op("Mul", step, scale)), bias)
