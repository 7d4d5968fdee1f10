"""Merging, by hand."""

import pytest
import torch

from niwaki.models.merging import agreeing_mean, average, task_arithmetic, ties, trimmed

BASE = {"a": torch.tensor([1.0, 2.0, 3.0, 4.0]), "places": torch.arange(3)}
ONE = {"a": torch.tensor([3.0, 2.0, 2.0, 4.1]), "places": torch.arange(3)}  # + 2, 0, −1, 0.1
TWO = {"a": torch.tensor([0.0, 2.2, 2.5, 8.0]), "places": torch.arange(3)}  # − 1, 0.2, −0.5, 4


def test_an_average_is_weighted():
    found = average([ONE, TWO], [3.0, 1.0])
    assert found["a"].tolist() == pytest.approx([2.25, 2.05, 2.125, 5.075])
    assert torch.equal(found["places"], torch.arange(3))


def test_task_arithmetic_adds_task_vectors():
    found = task_arithmetic(BASE, [ONE, TWO], [0.5, 1.0])
    assert found["a"].tolist() == pytest.approx([1.0 + 1.0 - 1.0, 2.2, 3.0 - 0.5 - 0.5, 4.05 + 4.0])
    assert task_arithmetic(BASE, [ONE], [-1.0])["a"].tolist() == pytest.approx([-1.0, 2.0, 4.0, 3.9])  # forgets a task


def test_a_task_vector_keeps_its_largest_numbers_over_all_tensors():
    vector = {"a": torch.tensor([5.0, -0.1]), "b": torch.tensor([[-3.0, 0.2]])}
    found = trimmed(vector, 0.5)
    assert found["a"].tolist() == [5.0, 0.0] and found["b"].tolist() == [[-3.0, 0.0]]
    assert trimmed(vector, 1.0)["a"].tolist() == vector["a"].tolist()


def test_ties_elects_signs_and_averages_those_that_agree():
    # the halves kept are (2, 0, −1, 0) and (−1, 0, 0, 4): signs +, none, −, +
    found = ties(BASE, [ONE, TWO], [1.0, 1.0], density=0.5)
    assert found["a"].tolist() == pytest.approx([3.0, 2.0, 2.0, 8.0])
    assert ties(BASE, [ONE, TWO], [1.0, 1.0], density=0.5, scale=0.5)["a"].tolist() == pytest.approx(
        [2.0, 2.0, 2.5, 6.0]
    )
    assert torch.equal(found["places"], torch.arange(3))


def test_agreeing_means_are_weighted():
    stacked = torch.tensor([[1.0, 0.0, -4.0], [3.0, 0.0, 1.0]])
    found = agreeing_mean(stacked, torch.tensor([[3.0], [1.0]]))
    assert found.tolist() == pytest.approx([(3 + 3) / 4, 0.0, -4.0])
