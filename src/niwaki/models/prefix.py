"""Prefixes: trained keys and values that all tokens attend to, next to those of the text."""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

NAME = "delta"  # where it lies in a layer


class Prefix(nn.Module):
    """Those of one layer, each (tokens, heads × head size). Keys of 0 and values of 0 still take a share of the attention."""

    keys: nn.Parameter
    values: nn.Parameter

    def __init__(self, keys: Tensor, values: Tensor, takes_positions: bool = False) -> None:
        super().__init__()
        self.keys, self.values = (nn.Parameter(one.detach().clone()) for one in (keys, values))
        self.takes_positions = takes_positions

    @classmethod
    def drawn(cls, tokens: int, width: int, deviation: float, takes_positions: bool = False) -> "Prefix":
        """With random numbers."""
        keys, values = (torch.randn(tokens, width) * deviation for _ in range(2))
        return cls(keys, values, takes_positions)

    def cut(self, columns: Sequence[int]) -> "Prefix":
        """That of attention with only some heads."""
        return Prefix(self.keys[:, list(columns)], self.values[:, list(columns)], self.takes_positions)


def prefix_of(layer: nn.Module) -> Prefix | None:
    """The prefix of a layer, or None."""
    found = layer._modules.get(NAME)
    return found if isinstance(found, Prefix) else None


def put_prefix(layer: nn.Module, prefix: Prefix) -> None:
    layer._modules.pop(NAME, None)
    layer.add_module(NAME, prefix.train(layer.training))


def taken_positions(layers: Iterable[nn.Module]) -> int:
    """How many positions the prefixes take; texts begin behind them."""
    found = (prefix for layer in layers if (prefix := prefix_of(layer)) is not None)
    first = next(found, None)
    return len(first.keys) if first is not None and first.takes_positions else 0


def behind_prefix(inputs: Mapping[str, Tensor], taken: int, skipped: int) -> Mapping[str, Tensor]:
    """Inputs (batch, tokens) with positions from behind the prefix on; `skipped` are rows of the table before the first position."""
    if not taken:
        return inputs
    ids = inputs["input_ids"]
    places = inputs.get("position_ids", torch.arange(skipped, ids.shape[1] + skipped, device=ids.device) + ids * 0)
    return {**inputs, "position_ids": places + taken}
