"""Prefixes: trained keys and values that all tokens attend to, next to those of the text."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

NAME = "delta"  # where it lies in a layer


class Prefix(nn.Module):
    """Those of one layer, each (tokens, heads × head size). Keys of 0 and values of 0 still take a share of the attention."""

    keys: nn.Parameter
    values: nn.Parameter

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        super().__init__()
        self.keys, self.values = (nn.Parameter(one.detach().clone()) for one in (keys, values))

    @classmethod
    def drawn(cls, tokens: int, width: int, deviation: float) -> "Prefix":
        """With random numbers."""
        return cls(*(torch.randn(tokens, width) * deviation for _ in range(2)))

    def cut(self, columns: Sequence[int]) -> "Prefix":
        """That of attention with only some heads."""
        return Prefix(self.keys[:, list(columns)], self.values[:, list(columns)])


def prefix_of(layer: nn.Module) -> Prefix | None:
    """The prefix of a layer, or None."""
    found = layer._modules.get(NAME)
    return found if isinstance(found, Prefix) else None


def put_prefix(layer: nn.Module, prefix: Prefix) -> None:
    layer._modules.pop(NAME, None)
    layer.add_module(NAME, prefix.train(layer.training))
