"""A matrix as a sum of Kronecker products A ⊗ B of small ones, which is a tensor train with two cores (Oseledets 2011).

If A has one column and B one row, a term is an outer product, as in a singular value decomposition. Square factors have as few
parameters, but the rank of a term is the product of the factors' ranks instead of 1.
"""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from niwaki.models.module_paths import packed_like, to_dense
from niwaki.models.packed.factored import linear_of, truncated

Sizes = tuple[int, int, int]  # rows of A, columns of B, number of terms


class Kronecker(nn.Module):
    """x → Σ (A ⊗ B) x + bias, as two ordinary matrices: `first` holds all B, (terms × rows of B, columns of B), and `second` all A,
    (rows of A, terms × columns of A)."""

    inner: ClassVar[tuple[str, ...]] = ("first", "second")
    first: Any
    second: Any

    def __init__(self, first: nn.Module, second: nn.Module, bias: Tensor | None, terms: int) -> None:
        super().__init__()
        self.first, self.second, self.terms = first, second, terms
        self.bias: Any = None if bias is None else nn.Parameter(bias.detach().clone())

    @classmethod
    def of(cls, linear: nn.Linear, sizes: Sizes) -> "Kronecker":
        """The best approximation of a matrix: the singular value decomposition of its rearrangement, whose rows correspond to A
        and columns to B (Van Loan and Pitsianis 1993)."""
        high, wide, terms = sizes
        blocks = linear.weight.detach().reshape(high, linear.out_features // high, linear.in_features // wide, wide)
        left, right = truncated(blocks.transpose(1, 2).flatten(2).flatten(0, 1), terms)
        many = left.reshape(high, -1, terms).transpose(1, 2).flatten(1)  # (rows of A, terms × columns of A)
        return cls(linear_of(right.reshape(-1, wide), None), linear_of(many, None), linear.bias, terms)

    @property
    def in_features(self) -> int:
        return int(self.first.in_features * self.second.in_features // self.terms)

    @property
    def out_features(self) -> int:
        return int(self.second.out_features * self.first.out_features // self.terms)

    def forward(self, x: Tensor) -> Tensor:
        blocks = self.first(x.unflatten(-1, (-1, self.first.in_features)))  # (…, columns of A, terms × rows of B)
        turned = blocks.unflatten(-1, (self.terms, -1)).transpose(-1, -3)  # (…, rows of B, terms, columns of A)
        out = self.second(turned.flatten(-2)).transpose(-1, -2).flatten(-2)  # (…, rows of A × rows of B)
        return out if self.bias is None else out + self.bias.to(out.dtype)

    def to_dense(self) -> nn.Linear:
        few = to_dense(self.first).weight.unflatten(0, (self.terms, -1))  # (terms, rows, columns) of the B
        many = to_dense(self.second).weight.unflatten(1, (self.terms, -1))  # (rows, terms, columns) of the A
        weight = torch.einsum("atb,tcd->acbd", many, few).flatten(2).flatten(0, 1)
        return linear_of(weight, self.bias)

    def repack(self, linear: nn.Linear) -> nn.Module:
        """Another matrix with the same fraction of parameters, in factors that fit it; dense if there are none."""
        numbers = self.first.in_features * self.first.out_features + self.second.in_features * self.second.out_features
        sizes = fitted(linear.out_features, linear.in_features, numbers / (self.out_features * self.in_features), 1.0)
        return factorize_like(self, linear, sizes) if sizes else packed_like(self, linear)


def factorize_like(old: object, linear: nn.Linear, sizes: Sizes) -> Kronecker:
    """Factorize a dense matrix; the factors are packed like `old`."""
    factors = Kronecker.of(linear, sizes)
    return Kronecker(packed_like(old, factors.first), packed_like(old, factors.second), factors.bias, factors.terms)


def fitted(out: int, inputs: int, keep: float, flops: float) -> Sizes | None:
    """The sizes closest to square that use `keep` of a matrix's parameters and at most `flops` of its operations."""
    found = []
    for high in divisors(out):
        for wide in divisors(inputs):
            low, narrow = out // high, inputs // wide
            numbers = high * narrow + low * wide  # parameters of a term
            terms = min(int(keep * out * inputs / numbers), high * narrow, low * wide)
            operations = terms * (inputs * low + out * narrow)
            if terms and terms * numbers < out * inputs and operations <= flops * out * inputs:
                found.append(
                    (
                        max(high, low) / min(high, low) * max(wide, narrow) / min(wide, narrow),
                        operations,
                        (high, wide, terms),
                    )
                )
    return min(found)[2] if found else None


def divisors(number: int) -> list[int]:
    small = [one for one in range(1, int(number**0.5) + 1) if number % one == 0]
    return sorted({*small, *(number // one for one in small)})
