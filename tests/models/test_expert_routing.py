"""Routing to experts, next to a loop over rows and to values worked out by hand."""

import math

import pytest
import torch

from niwaki.models.expert_routing import balance_loss, choose, run_grouped, shares, z_loss


@pytest.mark.parametrize("seed", range(20))
def test_grouped_rows_equal_a_loop_over_rows(seed):
    """Random sizes; many experts get no row. Gradients are those of the loop."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda low, high: int(torch.randint(low, high, (), generator=generator))  # noqa: E731
    count, experts, hidden = draw(1, 30), draw(2, 12), draw(1, 8)
    active = draw(1, experts + 1)
    matrices = [torch.randn(hidden, hidden, generator=generator) for _ in range(experts)]
    rows = torch.randn(count, hidden, generator=generator).requires_grad_()
    chosen = torch.stack([torch.randperm(experts, generator=generator)[:active] for _ in range(count)])
    found = run_grouped(rows, chosen, [lambda x, m=matrix: x @ m for matrix in matrices])
    wanted = torch.stack(
        [torch.stack([row @ matrices[number] for number in own]) for row, own in zip(rows, chosen, strict=True)]
    )
    torch.testing.assert_close(found, wanted)
    upstream = torch.randn(found.shape, generator=generator)
    own, theirs = (torch.autograd.grad((one * upstream).sum(), rows)[0] for one in (found, wanted))
    torch.testing.assert_close(own, theirs)


def test_weights_are_shares_of_the_chosen_probabilities():
    logits = torch.tensor([[0.0, math.log(3), math.log(4)]])  # probabilities 1/8, 3/8, 4/8
    experts, weights = choose(logits, 2, is_sum=False)
    assert experts.tolist() == [[2, 1]]
    torch.testing.assert_close(weights, torch.tensor([[4 / 7, 3 / 7]]))
    assert choose(logits, 2, is_sum=True)[1].tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(("active", "is_sum"), [(1, False), (1, True), (2, True)])
def test_the_router_learns_though_the_weights_are_fixed(active, is_sum):
    logits = torch.tensor([[0.0, 1.0, 2.0]], requires_grad=True)
    _, weights = choose(logits, active, is_sum)
    weights.sum().backward()
    assert logits.grad is not None and logits.grad.abs().min() > 0


def test_a_probability_of_zero_gives_finite_weights():
    _, weights = choose(torch.tensor([[1e4, -1e4, 0.0]]), 2, is_sum=True)
    assert weights.isfinite().all()


def test_the_balance_loss_is_one_for_even_rows_and_the_number_of_experts_for_one_expert():
    even = 50 * torch.eye(4)
    torch.testing.assert_close(balance_loss(even, 1), torch.tensor(1.0))
    torch.testing.assert_close(balance_loss(even[:1], 1), torch.tensor(4.0))
    assert shares(even, 1).tolist() == [0.25] * 4


def test_the_z_loss_is_the_mean_square_of_the_log_sum():
    logits = torch.tensor([[0.0, 0.0], [math.log(3), 0.0]])
    torch.testing.assert_close(z_loss(logits), torch.tensor((math.log(2) ** 2 + math.log(4) ** 2) / 2))
