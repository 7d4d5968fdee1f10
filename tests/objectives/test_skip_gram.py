"""Skip-gram: the loss and its gradients by hand."""

import math

import pytest
import torch

from niwaki.models.forward import forward
from niwaki.models.record import HIDDEN
from niwaki.objectives.skip_gram import skip_gram_loss

from .embedding import prepared


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_two_words_by_hand():
    """Words 1 and 2 with vectors of one number, each around the other; two noise words, three negatives for each pair."""
    words = torch.tensor([[[1.0], [2.0]]], requires_grad=True)
    around, noise = torch.tensor([[[0.5], [-1.0]]], requires_grad=True), torch.tensor([[0.0], [3.0]])
    pairs = torch.tensor([[[False, True], [True, False]]])
    loss = skip_gram_loss(words, around, noise, pairs, negatives=3)
    first = -math.log(sigmoid(-1.0)) - 3 * (math.log(sigmoid(0.0)) + math.log(sigmoid(-3.0))) / 2
    second = -math.log(sigmoid(1.0)) - 3 * (math.log(sigmoid(0.0)) + math.log(sigmoid(-6.0))) / 2
    assert loss.item() == pytest.approx((first + second) / 2, rel=1e-5)
    loss.backward()
    of_first = (sigmoid(-1.0) - 1) * -1.0 + 3 / 2 * (sigmoid(0.0) * 0 + sigmoid(3.0) * 3)
    assert words.grad[0, 0, 0].item() == pytest.approx(of_first / 2, rel=1e-5)
    assert around.grad[0, 1, 0].item() == pytest.approx((sigmoid(-1.0) - 1) * 1.0 / 2, rel=1e-5)


def test_the_loss_of_a_batch_is_the_mean_over_its_pairs():
    """Written out word by word."""
    model, objective, _, batch = prepared({"use": "skip_gram", "window": 2, "negatives": 2, "drawn": 4, "subsample": 0})
    torch.nn.init.normal_(objective.helpers["around"].weight)
    noisy = objective.batch(batch, torch.Generator().manual_seed(0))
    loss = objective.loss(forward(model.anatomy, noisy, frozenset({HIDDEN})), noisy)
    table, around = model.anatomy.tokens.weight, objective.helpers["around"].weight
    total, count = 0.0, 0
    for ids, mask, radii in zip(noisy.inputs["input_ids"], noisy.mask, noisy.notes["radius"], strict=True):
        length = int(mask.sum())
        for place in range(length):
            for other in range(max(0, place - int(radii[place])), min(length, place + int(radii[place]) + 1)):
                if other != place:
                    word = table[ids[place]]
                    total -= torch.nn.functional.logsigmoid(word @ around[ids[other]])
                    total -= 2 / 4 * torch.nn.functional.logsigmoid(-(around[noisy.notes["noise"]] @ word)).sum()
                    count += 1
    torch.testing.assert_close(loss, total / count)
