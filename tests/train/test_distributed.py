"""What processes say to each other, as the first of two sees it. tests/reliability/test_processes.py trains in several processes."""

import pytest
import torch
import torch.distributed as dist
from torch import nn

from niwaki.core.errors import NiwakiError
from niwaki.train import distributed
from niwaki.train.distributed import ProcessLost, any_process, broadcast, digest_of, from_main_process, require_same


class Pair:
    """torch.distributed as the first of two processes sees it; `other` is what the second one sends."""

    def __init__(self, other: torch.Tensor) -> None:
        self.other = other

    def all_reduce(self, tensor, op=dist.ReduceOp.SUM):
        assert op == dist.ReduceOp.MAX
        tensor.copy_(torch.maximum(tensor, self.other))

    def broadcast(self, tensor, src):
        assert src == 0

    def all_gather(self, parts, tensor):
        parts[0].copy_(tensor)
        parts[1].copy_(self.other)


@pytest.fixture
def pair(monkeypatch):
    def build(other) -> Pair:
        found = Pair(torch.as_tensor(other))
        monkeypatch.setattr(dist, "is_initialized", lambda: True)
        monkeypatch.setattr(dist, "get_rank", lambda: 0)
        for name in ("all_reduce", "broadcast", "all_gather"):
            monkeypatch.setattr(dist, name, getattr(found, name))
        monkeypatch.setattr(dist, "get_world_size", lambda: 2)
        return found

    return build


def test_a_single_process_changes_nothing():
    values = torch.tensor([3.0])
    broadcast([values])
    distributed.wait_for_all()
    require_same(nn.Linear(1, 1), "now")
    assert (distributed.processes(), distributed.number(), distributed.is_main()) == (1, 0, True)
    assert any_process([True, False]) == [True, False] and from_main_process(lambda: 0.25) == 0.25


def test_any_process_is_enough_for_each_value(pair):
    pair([0, 0, 1, 1])
    assert any_process([False, True, False, True]) == [False, True, True, True]


def test_numbers_are_sent_in_double_precision(pair):
    pair(0.0)
    assert from_main_process(lambda: 1 / 3) == 1 / 3


def test_processes_with_other_weights_are_named(pair):
    layer = nn.Linear(2, 1)
    mine = int.from_bytes(digest_of(layer.state_dict()), "big", signed=True)
    pair([mine])
    require_same(layer, "now")
    with torch.no_grad():
        layer.weight[0, 0] += 1e-6
    with pytest.raises(
        NiwakiError, match="after step 3, the processes have different weights; all need the same processor"
    ):
        require_same(layer, "after step 3")


def test_a_digest_without_values_depends_on_names_and_shapes_alone():
    one, two = ({"a": torch.zeros(2, 3)}, {"a": torch.ones(2, 3)})
    assert (
        digest_of(one, values=False)
        == digest_of(two, values=False)
        != digest_of({"a": torch.zeros(3, 2)}, values=False)
    )
    assert digest_of(one) != digest_of(two)


def test_a_broken_connection_is_a_lost_process(pair, monkeypatch):
    pair(0.0)

    def broken(tensor, src):
        raise RuntimeError("Connection closed by peer [127.0.0.1]:5119")

    monkeypatch.setattr(dist, "broadcast", broken)
    with pytest.raises(ProcessLost, match="another process of this training ended"):
        broadcast([torch.zeros(1)])
