"""Tables that several modules share, and tables of positions."""

import pytest
import torch
from torch import nn

from niwaki.models.packed.factored import FactoredTable
from niwaki.models.packed.int8 import Int8Embedding
from niwaki.models.packed.store import Floats, StoredTable
from niwaki.models.tables import Positions, TiedEmbedding, TiedHead, has_own_output, scores, tie_table


class Network(nn.Module):
    """Input, output and a second input around one table, as transformers builds them."""

    def __init__(self, tie: bool | None = None) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.shared = nn.Embedding(7, 4, padding_idx=1)
        self.second = nn.Embedding(7, 4)
        self.output = nn.Linear(4, 7, bias=False)
        self.second.weight = self.output.weight = self.shared.weight
        self.config = nn.Module()
        self.config.tie_word_embeddings = tie


@pytest.fixture
def network():
    return Network()


def test_one_table_is_left_and_the_others_borrow_it(network):
    weight = network.shared.weight
    assert tie_table(network, network, "shared", {"second": 2.0, "output": 1.0})
    assert [name for name, _ in network.named_parameters()] == ["shared.weight"]
    assert network.shared.weight is weight and network.shared.padding_idx == 1
    assert isinstance(network.second, TiedEmbedding) and isinstance(network.output, TiedHead)
    ids, hidden = torch.tensor([[0, 3]]), torch.randn(2, 4)
    assert torch.equal(network.second(ids), 2 * weight[ids])
    torch.testing.assert_close(network.output(hidden), hidden @ weight.T)


def test_a_replaced_table_is_borrowed_too(network):
    tie_table(network, network, "shared", {"second": 1.0})
    network.shared = nn.Embedding(3, 4)
    assert torch.equal(network.second(torch.tensor([2])), network.shared.weight[[2]])


def test_numbers_of_its_own_are_not_tied(network):
    network.output.weight = nn.Parameter(network.shared.weight.detach() + 1)
    before = network.shared
    assert not tie_table(network, network, "shared", {"output": 1.0})
    assert network.shared is before and isinstance(network.output, nn.Linear)


@pytest.mark.parametrize(
    "table",
    [
        nn.Embedding(7, 4),
        FactoredTable(nn.Embedding(7, 2), nn.Linear(2, 4, bias=False)),
        Int8Embedding.of(nn.Embedding(7, 4)),
        StoredTable(Floats(torch.randn(7, 4))),
    ],
    ids=["plain", "factored", "int8", "stored"],
)
@torch.no_grad()
def test_scores_are_products_with_every_row(table):
    hidden = torch.randn(2, 3, 4)
    wanted = hidden @ table(torch.arange(7)).T
    torch.testing.assert_close(scores(table, hidden), wanted, atol=1e-5, rtol=1e-5)


def test_an_output_matrix_of_its_own_is_found_by_numbers_or_config():
    tied = Network()
    assert not has_own_output(tied, "output", tied.shared)
    own = Network()
    own.output.weight = nn.Parameter(own.shared.weight.detach() + 1)
    assert has_own_output(own, "output", own.shared)


def test_a_config_that_does_not_tie_makes_a_matrix():
    network = Network(tie=False)
    assert has_own_output(network, "output", network.shared)
    assert network.output.weight is not network.shared.weight
    assert torch.equal(network.output.weight, network.shared.weight)


def test_a_skeleton_goes_by_the_config():
    for tie, own in ((None, False), (True, False), (False, True)):
        network = Network(tie).to("meta")
        network.output.weight = nn.Parameter(torch.empty(7, 4, device="meta"))
        assert has_own_output(network, "output", network.shared) == own


@pytest.fixture
def positions():
    return Positions(nn.Parameter(torch.arange(12.0).view(6, 2)), offset=2)


def test_positions_start_behind_the_offset(positions):
    assert positions.num_embeddings == 6
    assert positions(torch.zeros(3, 2)).tolist() == [[4, 5], [6, 7]]  # (batch, tokens)
    assert positions((1, 1), past=3).tolist() == [[10, 11]]  # a shape, behind three tokens
    assert positions.at(torch.tensor([1, 0])).tolist() == [[6, 7], [4, 5]]


def test_positions_may_be_given(positions):
    given = positions(torch.zeros(1, 2), position_ids=torch.tensor([3, 0]))
    assert given.tolist() == [[10, 11], [4, 5]]


def test_repacked_positions_keep_offset_and_training(positions):
    table = positions.to_dense()
    again = positions.repack(table)
    assert again.offset == 2 and again.weight.requires_grad and torch.equal(again.weight, positions.weight)
    frozen = Positions(nn.Parameter(torch.zeros(2, 2), requires_grad=False), 0)
    assert not frozen.to_dense().weight.requires_grad


def test_packed_positions_are_eight_bits_with_a_scale_for_each_row(positions):
    packed = positions.packed()
    assert packed.weight.dtype == torch.int8 and packed.packed() is packed and packed.num_embeddings == 6
    places = torch.arange(4)
    assert (packed.at(places) - positions.at(places)).abs().max() <= 11 / 127 / 2 + 1e-6
    torch.testing.assert_close(packed.to_dense().weight[2:], packed.at(places))
    assert packed.repack(nn.Embedding(5, 2)).num_embeddings == 5
