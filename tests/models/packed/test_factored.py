"""Two thin matrices, or a narrow table and what widens it: by hand."""

import pytest
import torch
from torch import nn

from niwaki.models.module_paths import to_dense
from niwaki.models.packed.factored import Factored, FactoredTable, linear_of, truncated
from niwaki.models.slicing import cut_linear, cut_table

LEFT, RIGHT = torch.tensor([[1.0], [2.0], [0.0]]), torch.tensor([[3.0, -1.0]])


def test_the_product_by_hand():
    factored = Factored.of(LEFT, RIGHT, torch.tensor([0.0, 0.0, 5.0]))
    assert (factored.in_features, factored.out_features, factored.rank) == (2, 3, 1)
    assert factored(torch.tensor([[2.0, 1.0]])).tolist() == [[5.0, 10.0, 5.0]]  # 3·2 - 1 = 5, times 1, 2 and 0
    assert to_dense(factored).weight.tolist() == [[3.0, -1.0], [6.0, -2.0], [0.0, 0.0]]


def test_cutting_leaves_the_rank():
    factored = cut_linear(Factored.of(LEFT, RIGHT, torch.tensor([0.0, 0.0, 5.0])), outputs=[2, 1], inputs=[0])
    assert isinstance(factored, Factored) and factored.rank == 1
    assert factored(torch.tensor([[2.0]])).tolist() == [[5.0, 12.0]]


def test_a_table_by_hand():
    table = FactoredTable.of(torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [0.0], [-1.0]]))
    assert (table.num_embeddings, table.embedding_dim) == (2, 3)
    assert table(torch.tensor([1])).tolist() == [[2.0, 0.0, -2.0]]
    assert to_dense(table).weight.tolist() == [[1.0, 0.0, -1.0], [2.0, 0.0, -2.0]]
    cut = cut_table(table, rows=[1], columns=[2, 0])
    assert isinstance(cut, FactoredTable) and cut(torch.tensor([0])).tolist() == [[-2.0, 2.0]]


def test_both_can_be_trained():
    factored = Factored.of(LEFT, RIGHT, None)
    factored(torch.ones(1, 2)).sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in factored.parameters())
    assert factored.second.bias is None and isinstance(factored.first, nn.Linear)


def test_linear_of_takes_copies():
    weight = torch.ones(2, 3)
    factored = linear_of(weight, weight[:, 0])
    weight.zero_()
    assert (
        factored.weight.sum() == 6
        and factored.bias.sum() == 2
        and (factored.in_features, factored.out_features) == (3, 2)
    )


def test_truncated_by_hand():
    left, right = truncated(torch.tensor([[3.0, 0.0], [0.0, 2.0]]), 1)
    torch.testing.assert_close(left @ right, torch.tensor([[3.0, 0.0], [0.0, 0.0]]))
    assert left.abs().max() == pytest.approx(3**0.5) == pytest.approx(float(right.abs().max()))
