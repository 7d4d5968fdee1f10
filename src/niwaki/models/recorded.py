"""Activations of a packed batch: padded where they are read by depth, and without padding for losses over real tokens.

A loss that compares two networks reads all numbers of both. Without padding it reads fewer, and none is copied into a rectangle.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, overload, runtime_checkable

import torch
from torch import Tensor


@dataclass(frozen=True)
class Unpadded:
    """One activation: rows (tokens, …) of one sequence behind those of another, or scores as `pad_scores` describes them. `order` are the
    places of the sequences in the batch."""

    values: Tensor
    order: Tensor
    pad: Callable[[Tensor], Tensor]  # to (batch, tokens, …), or (batch, heads, tokens, tokens)

    def padded(self) -> Tensor:
        return self.pad(self.values)


Activation = Tensor | Unpadded


@runtime_checkable
class Unpads(Protocol):
    """Activations by depth that are at hand without padding."""

    def fits(self, order: Tensor) -> bool:
        """Whether they are, for all depths and in this order of sequences."""

    def unpadded(self, depth: int, order: Tensor) -> Tensor: ...


class Recorded(Sequence[Tensor]):
    """The activations of all depths, each padded when it is read."""

    def __init__(self, found: Sequence[Activation]) -> None:
        self._found = found

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, depth: int) -> Tensor: ...

    @overload
    def __getitem__(self, depth: slice) -> Sequence[Tensor]: ...

    def __getitem__(self, depth: int | slice) -> Tensor | Sequence[Tensor]:
        return Recorded(self._found[depth]) if isinstance(depth, slice) else padded(self._found[depth])

    @property
    def order(self) -> Tensor | None:
        """That of all depths; None where one of them is padded."""
        found = [one.order for one in self._found if isinstance(one, Unpadded)]
        return found[0] if found and len(found) == len(self._found) else None

    def fits(self, order: Tensor) -> bool:
        return self.order is not None and torch.equal(self.order, order)

    def unpadded(self, depth: int, order: Tensor) -> Tensor:
        one = self._found[depth]
        assert isinstance(one, Unpadded)
        return one.values


class LazyDepths(Mapping[int, Tensor]):
    """Activations by depth that are computed when they are read, e.g. from a cache: `pad` for all sequences of a batch, `unpad` in an order."""

    def __init__(
        self, depths: Sequence[int], pad: Callable[[int], Tensor], unpad: Callable[[int, Tensor], Tensor]
    ) -> None:
        self._depths, self._pad, self._unpad = depths, pad, unpad
        self._padded: dict[int, Tensor] = {}

    def __len__(self) -> int:
        return len(self._depths)

    def __iter__(self) -> Iterator[int]:
        return iter(self._depths)

    def __getitem__(self, depth: int) -> Tensor:
        if depth not in self._depths:
            raise KeyError(depth)
        if depth not in self._padded:
            self._padded[depth] = self._pad(depth)
        return self._padded[depth]

    def fits(self, order: Tensor) -> bool:
        return True

    def unpadded(self, depth: int, order: Tensor) -> Tensor:
        return self._unpad(depth, order)


def padded(one: Activation) -> Tensor:
    return one.padded() if isinstance(one, Unpadded) else one


def pad_scores(values: Tensor, lengths: Sequence[int], order: Sequence[int]) -> Tensor:
    """Scores of sequences of these lengths, (heads, tokens, tokens) of one behind those of another, to (batch, heads, tokens, tokens) with
    zeros for padding."""
    heads = len(values) // sum(length**2 for length in lengths)
    whole = values.new_zeros(len(lengths), heads, max(lengths), max(lengths))
    parts = values.split([heads * length**2 for length in lengths])
    for place, length, part in zip(order, lengths, parts, strict=True):
        whole[place, :, :length, :length] = part.view(heads, length, length)
    return whole
