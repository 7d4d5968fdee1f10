"""Stores of matrices, and the linear layers and tables that read them."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from niwaki.models.packed.low_bit import LowBit
from niwaki.models.packed.store import Floats, Store, StoredLinear, StoredTable

WEIGHT = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


class Doubled(Store):
    """The least that a store needs."""

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.rows, self.columns = weight.shape
        self.register_buffer("halves", weight / 2)

    def forward(self) -> torch.Tensor:
        return 2 * self.halves

    def repack(self, weight: torch.Tensor) -> "Doubled":
        return Doubled(weight)


@pytest.mark.parametrize("store", [Floats(WEIGHT), Doubled(WEIGHT)], ids=["floats", "own"])
def test_a_stored_layer_is_a_linear_layer(store):
    bias = torch.tensor([0.5, -0.5])
    layer = StoredLinear(store, bias)
    x = torch.tensor([[1.0, 0.0, -1.0]])
    assert (layer.in_features, layer.out_features) == (3, 2)
    assert layer(x).tolist() == [[-1.5, -2.5]]  # 1 - 3 + 0.5 and 4 - 6 - 0.5
    assert torch.equal(layer.to_dense()(x), layer(x))
    assert StoredLinear(store, None)(x).tolist() == [[-2.0, -2.0]]


def test_floats_are_trained():
    layer = StoredLinear(Floats(WEIGHT), torch.zeros(2))
    layer(torch.tensor([[1.0, 2.0, 3.0]])).sum().backward()
    assert layer.store.values.grad.tolist() == [[1, 2, 3], [1, 2, 3]] and layer.bias.grad.tolist() == [1, 1]


def test_the_values_are_copied():
    weight = WEIGHT.clone()
    store = Floats(weight)
    weight.zero_()
    assert torch.equal(store(), WEIGHT)


def test_a_stored_table_is_an_embedding():
    table = StoredTable(Doubled(WEIGHT))
    ids = torch.tensor([[1, 0], [1, 1]])
    assert (table.num_embeddings, table.embedding_dim) == (2, 3)
    assert torch.equal(table(ids), functional.embedding(ids, WEIGHT))
    assert torch.equal(table.to_dense().weight, WEIGHT) and table.to_dense().weight.requires_grad


def test_repacking_keeps_the_storage():
    other = nn.Linear(3, 5)
    layer = StoredLinear(Doubled(WEIGHT), torch.zeros(2)).repack(other)
    assert isinstance(layer.store, Doubled) and layer.out_features == 5
    torch.testing.assert_close(layer.store(), other.weight.detach())
    assert torch.equal(layer.bias, other.bias)
    table = StoredTable(Floats(WEIGHT)).repack(nn.Embedding(7, 3))
    assert isinstance(table.store, Floats) and table.num_embeddings == 7


def test_packing_leaves_what_is_small_already():
    store = LowBit.of(WEIGHT, 16)
    assert StoredLinear(store, None).packed().store is store
    floats = StoredLinear(Floats(WEIGHT), None)
    assert floats.packed().store is floats.store


def test_a_store_without_values_is_none():
    for call in (Store().forward, lambda: Store().repack(WEIGHT)):
        with pytest.raises(NotImplementedError):
            call()
