"""Gradients by rows are those that torch gives for the whole table, step after step."""

import pytest
import torch
from torch import nn

from niwaki.train.row_gradients import LARGE, RowGradients

WIDTH = 64
ROWS = LARGE // WIDTH


@pytest.fixture
def table():
    torch.manual_seed(0)
    return nn.ModuleDict({"table": nn.Embedding(ROWS, WIDTH, padding_idx=3), "small": nn.Embedding(5, WIDTH)})


def backward(modules: nn.ModuleDict, ids: torch.Tensor, tied: bool) -> None:
    modules.zero_grad(set_to_none=True)
    states = modules["table"](ids) + modules["small"](ids % 5)
    logits = (states @ modules["table"].weight[:7].T).sum() if tied else 0.0
    ((states * torch.linspace(-1, 1, WIDTH)).tanh().sum() + logits).backward()


@pytest.mark.parametrize("tied", [False, True])
def test_same_numbers(table, tied):
    """Rows that an earlier step read and this one does not are 0 again. Those read twice are summed in the same order, to the
    same bits, unless the table is also a matrix and has gradients as such."""
    batches = [torch.randint(0, ROWS, (8, 30)), torch.tensor([[3, 4, 4, 3, 9]]), torch.randint(0, 40, (8, 30))]
    with RowGradients(table) as rows:
        assert [one is table["table"] for one in rows.tables] == [True]
        for ids in batches:
            backward(table, ids, tied)
            rows.gather()
            found = table["table"].weight.grad.clone()
            table["table"].sparse = False
            backward(table, ids, tied)
            table["table"].sparse = True
            assert not found.is_sparse
            torch.testing.assert_close(
                found, table["table"].weight.grad, rtol=1e-6 if tied else 0, atol=1e-6 if tied else 0
            )
    assert not table["table"].sparse


def test_leaves_frozen_tables_alone(table):
    table["table"].requires_grad_(False)
    assert RowGradients(table).tables == []


def test_leaves_weights_alone_that_are_worked_out(table):
    """A parametrization passes on the gradient that it is given: one by rows would reach its weights, where nobody gathers it."""
    nn.utils.parametrize.register_parametrization(table["table"], "weight", nn.Identity())
    assert RowGradients(table).tables == []
