"""Continuous bag of words: the loss and its gradients by hand."""

import math

import pytest
import torch

from niwaki.objectives.cbow import cbow_loss


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_the_mean_of_the_words_around_predicts_by_hand():
    """The third of three words is predicted from the mean of 1 and 2; the others have nothing around them."""
    words = torch.tensor([[[1.0], [2.0], [9.0]]], requires_grad=True)
    own, noise = torch.tensor([[[5.0], [5.0], [2.0]]]), torch.tensor([[1.0], [-1.0]])
    pairs = torch.zeros(1, 3, 3, dtype=torch.bool)
    pairs[0, 2, :2] = True
    loss = cbow_loss(words, own, noise, pairs, negatives=4)
    wanted = -math.log(sigmoid(3.0)) - 4 * (math.log(sigmoid(-1.5)) + math.log(sigmoid(1.5))) / 2
    assert loss.item() == pytest.approx(wanted, rel=1e-5)
    loss.backward()
    of_mean = (sigmoid(3.0) - 1) * 2 + 2 * (sigmoid(1.5) - sigmoid(-1.5))
    assert words.grad[0, :, 0].tolist() == pytest.approx([of_mean / 2, of_mean / 2, 0.0], rel=1e-5)


def test_no_words_around_give_no_loss():
    assert cbow_loss(torch.ones(1, 1, 2), torch.ones(1, 1, 2), torch.ones(3, 2), torch.zeros(1, 1, 1).bool(), 5) == 0
