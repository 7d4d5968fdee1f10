"""A matrix of which only the bias is left, because its block was removed."""

from typing import Any

import torch
from torch import Tensor, nn

from niwaki.models.packed.factored import linear_of


class Removed(nn.Module):
    """x → bias. It has no weight, so it is not pruned, packed or factorized."""

    def __init__(self, in_features: int, out_features: int, bias: Tensor | None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.bias: Any = None if bias is None else nn.Parameter(bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        zeros = x.new_zeros((*x.shape[:-1], self.out_features))
        return zeros if self.bias is None else zeros + self.bias.to(x.dtype)

    def to_dense(self) -> nn.Linear:
        device = None if self.bias is None else self.bias.device
        return linear_of(torch.zeros(self.out_features, self.in_features, device=device), self.bias)

    def repack(self, linear: nn.Linear) -> "Removed":
        return Removed(linear.in_features, linear.out_features, linear.bias)
