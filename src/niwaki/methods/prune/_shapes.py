"""Shapes within a network: some of its layers, evenly spaced, and the first heads and neurons of each."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.methods._layer_choice import evenly_spaced
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.layers import Layers
from niwaki.models.head_order import Order
from niwaki.models.importance import gates
from niwaki.models.model import Model


@dataclass(frozen=True)
class Shape:
    layers: int
    heads: float  # share of the heads of each layer
    ffn: float  # share of its neurons

    def depths(self, anatomy: Anatomy) -> list[int]:
        depth = len(anatomy.order)
        if self.layers > depth:
            raise InputError(f"layers: {self.layers} of {depth} are named; name fewer")
        return evenly_spaced(depth, self.layers)

    def heads_of(self, order: Order) -> Order:
        return [heads[: count_of(self.heads, len(heads))] for heads in order]

    def neurons_of(self, anatomy: Anatomy) -> list[int]:
        return [count_of(self.ffn, block.ffn_size) for block in anatomy.blocks]


def count_of(share: float, size: int) -> int:
    return max(1, round(share * size))


class AtDepths(Anatomy):
    """A network of which some depths run."""

    def __init__(self, network: Network, depths: Sequence[int]) -> None:
        super().__init__(network)
        self.depths = depths

    @property
    def order(self) -> list[int]:
        whole = super().order
        return [whole[depth] for depth in self.depths]


@contextlib.contextmanager
def running(anatomy: Anatomy, shape: Shape, order: Order) -> Iterator[Anatomy]:
    """Within this block, the anatomy that it yields computes what the network cut to the shape would, with the same weights."""
    heads = [_open(len(own), kept) for own, kept in zip(order, shape.heads_of(order), strict=True)]
    neurons = [
        _open(block.ffn_size, range(count))
        for block, count in zip(anatomy.blocks, shape.neurons_of(anatomy), strict=True)
    ]
    with gates(anatomy, heads, neurons):
        yield AtDepths(anatomy.network, shape.depths(anatomy))


def cut(model: Model, shape: Shape, order: Order) -> None:
    """What is cut entirely stays as it is: no edit is written for it."""
    anatomy = model.anatomy
    depths, heads, neurons = shape.depths(anatomy), shape.heads_of(order), shape.neurons_of(anatomy)
    if shape.heads < 1:
        model.apply_edit(Heads(keep=[*heads]))
    if shape.ffn < 1:
        model.apply_edit(Ffn(keep=[*neurons]))
    if len(depths) < len(anatomy.order):
        model.apply_edit(Layers(keep=depths))


def _open(size: int, kept: Sequence[int]) -> Tensor:
    return torch.zeros(size).index_fill(0, torch.tensor(kept), 1.0)
