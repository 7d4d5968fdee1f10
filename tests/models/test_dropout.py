"""Dropout on a processor."""

import pytest
import torch

from niwaki.models.dropout import dropout


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_drops_the_share_and_keeps_the_mean(dtype, rate):
    torch.manual_seed(0)
    dropped = dropout(torch.ones(500, 801, dtype=dtype), rate)
    assert dropped.dtype == dtype
    assert (dropped == 0).float().mean().item() == pytest.approx(rate, abs=0.005)
    assert dropped.float().mean().item() == pytest.approx(1.0, abs=0.02)


def test_the_same_seed_drops_the_same_elements_and_the_next_call_others():
    ones = torch.ones(3, 101)
    torch.manual_seed(5)
    first, second = dropout(ones, 0.5), dropout(ones, 0.5)
    torch.manual_seed(5)
    assert torch.equal(dropout(ones, 0.5), first)
    assert not torch.equal(first, second)


def test_gradients_pass_where_elements_pass():
    x = torch.randn(40, 13, requires_grad=True)
    dropped = dropout(x, 0.3)
    dropped.sum().backward()
    torch.testing.assert_close(x.grad * x, dropped)


def test_without_a_rate_nothing_changes():
    x = torch.randn(5)
    assert dropout(x, 0.0) is x
