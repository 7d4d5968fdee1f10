"""Muon: against the update written out in float64, the singular values that it aims at, and exact resuming."""

import dataclasses
from itertools import count

import pytest
import torch
from torch import nn

from niwaki.train.loop import Interrupted, fit
from niwaki.train.muon import Muon, orthogonalized
from train.jobs import job, same, weights

pytestmark = pytest.mark.usefixtures("quick_disk")


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(8, 8), (40, 12), (12, 40), (1, 5), (64, 64)])
def test_singular_values_are_drawn_to_one_and_directions_stay(shape):
    matrix = drawn(*shape)
    u, values, v = torch.linalg.svd(matrix, full_matrices=False)
    found = u.T @ orthogonalized(matrix) @ v.T
    large = values > 0.1 * values.max()  # the smallest need more steps
    assert ((found.diagonal()[large] > 0.6) & (found.diagonal()[large] < 1.3)).all()
    assert (found - found.diagonal().diag()).abs().max() < 1e-4


def reference(matrix, gradients, lr, decay):
    """As in the papers, one line each, in float64."""
    matrix, momentum = matrix.double(), torch.zeros_like(matrix).double()
    for gradient in gradients:
        momentum = 0.95 * momentum + 0.05 * gradient.double()
        update = 0.05 * gradient.double() + 0.95 * momentum
        x = update / update.norm()
        for _ in range(5):
            x = 3.4445 * x - 4.7750 * (x @ x.T) @ x + 2.0315 * (x @ x.T) @ (x @ x.T) @ x
        matrix = matrix * (1 - lr * decay) - lr * 0.2 * max(matrix.shape) ** 0.5 * x
    return matrix


@pytest.mark.parametrize("shape", [(6, 10), (10, 6)])
@pytest.mark.parametrize("clipping", [1.0, 4.0])
def test_steps_equal_the_update_written_out(shape, clipping):
    matrix, gradients = nn.Parameter(drawn(*shape)), [drawn(*shape, seed=seed) for seed in (1, 2, 3)]
    start = matrix.detach().clone()
    group = {"params": [matrix], "weight_decay": 0.1, "orthogonal": True}
    optimizer = Muon([group], 0.01, torch.float32)
    for gradient in gradients:
        matrix.grad = gradient.clone()
        optimizer.grad_scale, optimizer.found_inf = torch.tensor(clipping), torch.tensor(0.0)
        optimizer.step()
    wanted = reference(start, [gradient / clipping for gradient in gradients], 0.01, 0.1)
    torch.testing.assert_close(matrix.double(), wanted, atol=1e-5, rtol=0)


def test_other_parameters_move_as_adamw_moves_them():
    own, other = (nn.Parameter(drawn(7)) for _ in range(2))
    matrix = nn.Parameter(drawn(4, 4))
    groups = [
        {"params": [matrix], "weight_decay": 0.0, "orthogonal": True},
        {"params": [own], "weight_decay": 0.0, "orthogonal": False},
    ]
    optimizers = Muon(groups, 0.01, torch.float32), torch.optim.AdamW([other], lr=0.01, weight_decay=0.0, fused=True)
    for seed in range(3):
        own.grad, other.grad, matrix.grad = drawn(7, seed=seed), drawn(7, seed=seed), drawn(4, 4, seed=seed)
        for optimizer in optimizers:
            optimizer.step()
    assert torch.equal(own, other)


def test_a_stopped_training_resumes_to_the_same_bits(task, tmp_path):
    whole = job(task, tmp_path / "whole", optimizer="muon", schedule="wsd")
    fit(whole)
    adamw = job(task, tmp_path / "adamw", schedule="wsd")
    fit(adamw)
    assert not same(weights(whole), weights(adamw))
    steps = count(1)
    stopped = job(task, tmp_path / "stopped", optimizer="muon", schedule="wsd")
    with pytest.raises(Interrupted):
        fit(dataclasses.replace(stopped, should_stop=lambda: next(steps) == 3))
    again = job(task, tmp_path / "stopped", optimizer="muon", schedule="wsd")
    fit(again)
    assert same(weights(whole), weights(again))
