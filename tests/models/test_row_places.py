"""Rows at places, with the gradients that torch computes."""

import torch

from niwaki.models.row_places import Gather, Scatter, gather_rows

PLACES = torch.tensor([3, 0, 4])


def test_gradients_are_those_of_indexing():
    rows = torch.randn(5, 2, requires_grad=True)
    (gather_rows(rows, PLACES) ** 2).sum().backward()
    wanted = torch.zeros(5, 2)
    wanted[PLACES] = 2 * rows.detach()[PLACES]
    assert torch.equal(rows.grad, wanted)


def test_scattering_is_the_opposite_of_gathering():
    rows = torch.randn(3, 2, requires_grad=True)
    whole = Scatter.apply(rows, PLACES, 5)
    assert torch.equal(Gather.apply(whole, PLACES), rows) and whole[[1, 2]].abs().sum() == 0
    whole.sum().backward()
    assert torch.equal(rows.grad, torch.ones(3, 2))
