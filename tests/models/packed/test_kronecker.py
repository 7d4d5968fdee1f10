"""Sums of Kronecker products: against numpy's, by hand, and the nearest there is."""

import numpy as np
import pytest
import torch
from torch import nn

from niwaki.models.module_paths import to_dense
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.kronecker import Kronecker, divisors, factorize_like, fitted
from niwaki.models.slicing import cut_linear


def random_linear(terms=2, high=3, low=4, narrow=2, wide=5):
    """A matrix (12, 10) that is such a sum, and numpy's word for it."""
    draw = np.random.default_rng(0)
    some = [(draw.normal(size=(high, narrow)), draw.normal(size=(low, wide))) for _ in range(terms)]
    weight = sum(np.kron(one, two) for one, two in some)
    linear = nn.Linear(narrow * wide, high * low)
    linear.weight = nn.Parameter(torch.tensor(weight).float())
    return linear


def test_a_sum_of_products_is_found_again_and_gives_what_the_whole_matrix_gives():
    linear = random_linear()
    found = Kronecker.of(linear, (3, 5, 2))
    assert (found.in_features, found.out_features) == (10, 12)
    assert found.first.weight.numel() + found.second.weight.numel() == 2 * (3 * 2 + 4 * 5)
    torch.testing.assert_close(found.to_dense().weight, linear.weight)
    for shape in ((10,), (7, 10), (2, 3, 10)):
        x = torch.randn(shape)
        torch.testing.assert_close(found(x), linear(x), atol=1e-5, rtol=1e-5)


def test_by_hand():
    linear = nn.Linear(4, 4, bias=False)
    linear.weight = nn.Parameter(torch.tensor([[1.0, 2, 3, 6], [0, 1, 0, 3], [2, 4, 0, 0], [0, 2, 0, 0]]))
    found = Kronecker.of(linear, (2, 2, 1))  # [[1, 3], [2, 0]] ⊗ [[1, 2], [0, 1]]
    torch.testing.assert_close(found(torch.tensor([1.0, 1, 1, 0])), torch.tensor([6.0, 1, 6, 2]))
    ratio = found.second.weight / torch.tensor([[1.0, 3], [2, 1]])
    assert found.second.weight[1, 1].abs() < 1e-6 and ratio[0, 0].item() == pytest.approx(ratio[1, 0].item())


def test_no_other_sum_of_so_many_terms_is_nearer():
    weight = torch.randn(12, 10, generator=torch.Generator().manual_seed(0))
    linear = nn.Linear(10, 12, bias=False)
    linear.weight = nn.Parameter(weight)
    error = (Kronecker.of(linear, (3, 5, 2)).to_dense().weight - weight).square().sum()
    rearranged = np.array(
        [weight.numpy()[4 * i : 4 * i + 4, 5 * j : 5 * j + 5].ravel() for i in range(3) for j in range(2)]
    )
    assert error.item() == pytest.approx(float((np.linalg.svd(rearranged)[1][2:] ** 2).sum()), rel=1e-4)


def test_one_column_and_one_row_are_the_singular_value_decomposition():
    linear = random_linear()
    found = Kronecker.of(linear, (12, 10, 3)).to_dense().weight
    left, values, right = torch.linalg.svd(linear.weight.detach())
    torch.testing.assert_close(found, (left[:, :3] * values[:3]) @ right[:3], atol=1e-5, rtol=0)


def test_fitted_by_hand():
    assert divisors(12) == [1, 2, 3, 4, 6, 12]
    # 16 × 16 in factors of 4 × 4: 32 numbers a term; 3 terms take 96 of 256, and 3 · (16 · 4 + 16 · 4) = 384 operations of 256
    assert fitted(16, 16, 0.375, 1.5) == (4, 4, 3)
    # of 4 × 2 and 4 × 8: 8 + 32 = 40 numbers a term; 2 terms take 80 of 96, and 2 · (16 · 4 + 16 · 2) = 192 operations
    assert fitted(16, 16, 0.375, 1.0) == (4, 8, 2)
    high, wide, terms = fitted(384, 1536, 0.25, 0.75)
    low, narrow = 384 // high, 1536 // wide
    assert terms * (high * narrow + low * wide) <= 0.25 * 384 * 1536
    assert terms * (1536 * low + 384 * narrow) <= 0.75 * 384 * 1536
    assert fitted(7, 5, 0.1, 1.0) is None


def test_cutting_gives_factors_that_fit_the_smaller_matrix_or_a_whole_one():
    linear = random_linear()
    cut = cut_linear(Kronecker.of(linear, (3, 5, 2)), outputs=range(8), inputs=range(8))
    assert isinstance(cut, Kronecker) and (cut.in_features, cut.out_features) == (8, 8)
    prime = cut_linear(Kronecker.of(linear, (3, 5, 2)), outputs=[0, 2, 1])
    assert to_dense(prime).weight.shape == (3, 10)
    whole = cut_linear(Kronecker.of(linear, (3, 5, 2)), outputs=[1], inputs=[4])
    assert isinstance(whole, nn.Linear)
    assert float(whole.weight.detach()) == pytest.approx(float(linear.weight[1, 4].detach()), abs=1e-5)


def test_packed_factors_stay_packed_when_cut():
    old = factorize_like(Int8Linear(10, 12), random_linear(), (3, 5, 2))
    assert isinstance(old.first, Int8Linear) and isinstance(old.second, Int8Linear)
    cut = cut_linear(old, outputs=range(8))
    assert isinstance(cut.first, Int8Linear)
    torch.testing.assert_close(old.to_dense().weight, random_linear().weight, atol=0.1, rtol=0)


def test_both_and_the_bias_can_be_trained():
    found = Kronecker.of(random_linear(), (3, 5, 2))
    found(torch.ones(1, 10)).sum().backward()
    assert (
        all(parameter.grad.abs().sum() > 0 for parameter in found.parameters()) and len(list(found.parameters())) == 3
    )
