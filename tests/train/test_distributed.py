"""Data-parallel steps in one process and in a simulated pair. tests/reliability/test_processes.py trains in two processes."""

import pytest
import torch
import torch.distributed as dist
from torch import nn

from niwaki.train import distributed
from niwaki.train.distributed import any_process, average_gradients, broadcast, from_main_process, is_distributed

CPU = torch.device("cpu")


class Pair:
    """torch.distributed as the first of two processes sees it; `other` is what the second one sends."""

    def __init__(self, other: torch.Tensor) -> None:
        self.other, self.sent = other, []

    def all_reduce(self, tensor, op=dist.ReduceOp.SUM):
        self.sent.append(tensor.clone())
        tensor.copy_(torch.maximum(tensor, self.other) if op == dist.ReduceOp.MAX else tensor + self.other)

    def broadcast(self, tensor, src):
        assert src == 0
        tensor.copy_(self.other)


@pytest.fixture
def pair(monkeypatch):
    def build(other) -> Pair:
        found = Pair(torch.as_tensor(other))
        monkeypatch.setattr(distributed, "is_distributed", lambda: True)
        monkeypatch.setattr(dist, "all_reduce", found.all_reduce)
        monkeypatch.setattr(dist, "broadcast", found.broadcast)
        monkeypatch.setattr(dist, "get_world_size", lambda: 2)
        return found

    return build


def with_gradients(*gradients):
    parameters = [nn.Parameter(torch.zeros(len(one) if one else 1)) for one in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = None if gradient is None else torch.tensor(gradient)
    return parameters


def test_a_single_process_changes_nothing():
    parameters = with_gradients([1.0, 2.0])
    average_gradients(parameters)
    values = torch.tensor([3.0])
    broadcast([values])
    assert not is_distributed() and parameters[0].grad.tolist() == [1, 2] and values.item() == 3
    assert any_process(True, CPU) and not any_process(False, CPU) and from_main_process(0.25, CPU) == 0.25


def test_gradients_are_averaged_in_one_message(pair):
    other = pair([3.0, 2.0, 8.0])
    first, without, second = with_gradients([1.0, 2.0], None, [4.0])
    average_gradients([first, without, second])
    assert first.grad.tolist() == [2, 2] and second.grad.tolist() == [6] and without.grad is None
    assert [sent.tolist() for sent in other.sent] == [[1, 2, 4]]


def test_no_message_is_sent_without_gradients(pair):
    other = pair([0.0])
    average_gradients(with_gradients(None))
    assert other.sent == []


@pytest.mark.parametrize(("own", "theirs"), [(False, False), (True, False), (False, True), (True, True)])
def test_any_process_is_enough(pair, own, theirs):
    pair(int(theirs))
    assert any_process(own, CPU) == (own or theirs)


def test_the_first_process_decides(pair):
    pair(0.25)
    assert from_main_process(0.5, CPU) == 0.25
    values = torch.zeros(())
    broadcast([values])
    assert values.item() == 0.25


def test_numbers_are_sent_in_double_precision(pair):
    pair(torch.tensor(1 / 3, dtype=torch.float64))
    assert from_main_process(0.0, CPU) == 1 / 3
