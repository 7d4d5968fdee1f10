"""Micro-shards: a fixed tree of sums, whoever computes it, and the gradients of the mean loss."""

import random

import numpy as np
import pytest
import torch
from torch import nn

from niwaki.train import distributed
from niwaki.train.loop import fit
from niwaki.train.micro_shards import MicroShards, nodes_within, share_of, tree_sum
from train.jobs import job, same, weights

pytestmark = pytest.mark.usefixtures("quick_disk")


def wide(count, seed):
    """Numbers of very different size, whose sum depends on the order."""
    drawn = np.random.default_rng(seed)
    return [
        torch.from_numpy((drawn.normal(size=7) * 10.0 ** drawn.integers(-6, 7)).astype(np.float32))
        for _ in range(count)
    ]


def test_the_tree_is_the_order_that_its_docstring_draws():
    a, b, c, d = wide(4, 0)
    known = {(place, place + 1): value.clone() for place, value in enumerate((a, b, c, d))}
    assert torch.equal(tree_sum((0, 4), known.get), (a + b) + (c + d))


@pytest.mark.parametrize("seed", range(20))
def test_any_number_of_processes_adds_in_the_same_order(seed):
    count = random.Random(seed).randrange(1, 40)
    world = random.Random(seed + 100).randrange(1, count + 1)
    values, whole = wide(count, seed), (0, count)

    def leaf(node):
        return values[node[0]].clone() if node[1] - node[0] == 1 else None

    nodes = [nodes_within(share_of(count, process, world), whole) for process in range(world)]
    assert [place for each in nodes for node in each for place in range(*node)] == list(range(count))
    partial = {node: tree_sum(node, leaf) for each in nodes for node in each}
    assert torch.equal(tree_sum(whole, partial.get), tree_sum(whole, leaf))
    exact = np.sum([value.double().numpy() for value in values], axis=0)
    np.testing.assert_allclose(
        tree_sum(whole, leaf).double(), exact, rtol=1e-4, atol=1e-5 * max(v.abs().max() for v in values)
    )


@pytest.mark.parametrize("rows", [1, 3, 8, 13])
def test_gradients_are_those_of_the_mean_over_all_rows(rows):
    torch.manual_seed(rows)
    x, y, count = torch.randn(rows, 5), torch.randn(rows), 4
    layer, unused = nn.Linear(5, 1), nn.Linear(2, 2)

    def backward(chosen, shard, share):
        loss = (layer(x[chosen])[:, 0] - y[chosen]).square().mean() * share
        loss.backward()
        return float(loss.detach())

    parameters = [*layer.parameters(), *unused.parameters()]
    shards = MicroShards(count, parameters, backward)
    for _ in range(2):  # the second time with the buffers of the first
        found = shards.gradients(np.arange(rows))
    wanted = (layer(x)[:, 0] - y).square().mean()
    torch.testing.assert_close(torch.tensor(found), wanted.detach())
    for parameter, gradient in zip(layer.parameters(), torch.autograd.grad(wanted, [*layer.parameters()]), strict=True):
        torch.testing.assert_close(parameter.grad, gradient)
    assert all(parameter.grad is None for parameter in unused.parameters()), "a parameter without gradient would decay"


def test_parts_of_processes_are_exchanged_in_the_order_of_the_tree(monkeypatch):
    """The first of two processes, with three micro-shards: its own are 0; the other one's 1 and 2, which are two nodes."""
    layer, values = nn.Linear(1, 1, bias=False), [0.1, 1e8, -1e8]
    sent = []

    def all_to_all(tensor, sizes, received):
        assert sizes == [2, 2] and received == [2, 4]
        sent.append(tensor.tolist())
        return torch.tensor([*tensor[:2].tolist(), values[1], 1.0, values[2], 1.0])

    monkeypatch.setattr(distributed, "processes", lambda: 2)
    monkeypatch.setattr(distributed, "number", lambda: 0)
    monkeypatch.setattr(distributed, "all_to_all", all_to_all)
    monkeypatch.setattr(distributed, "all_gather", lambda piece: torch.cat([piece, torch.tensor([0.75, 0.0])]))

    def backward(chosen, shard, share):
        assert (chosen.tolist(), shard, share) == ([0], 0, 1 / 3)
        layer.weight.grad = torch.full((1, 1), values[0])
        return 0.25

    loss = MicroShards(3, layer.parameters(), backward).gradients(np.arange(3))
    assert sent == [pytest.approx([values[0], 1.0, 0.25, 0.0])]
    # ((0, 1), 2): the first two are added before the third takes 1e8 away again
    assert (
        layer.weight.grad.item() == float(np.float32(np.float32(0.1) + np.float32(1e8)) - np.float32(1e8))
        and loss == 0.75
    )


def test_one_micro_shard_is_the_plain_step_and_more_are_near_it(task, tmp_path):
    jobs = [job(task, tmp_path / str(count), dropout=0.0, micro_shards=count, epochs=1) for count in (1, 3)]
    for one in jobs:
        fit(one)
    one, three = map(weights, jobs)
    assert not same(one, three)
    for name, value in one.items():
        torch.testing.assert_close(value, three[name], rtol=2e-2, atol=2e-3)
