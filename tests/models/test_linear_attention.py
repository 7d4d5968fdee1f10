"""Linear attention, next to the weights that it stands for."""

import torch

from niwaki.models.linear_attention import features, linear_attention, mimicry_loss

MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])


def states(count: int, size: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(size)
    return [torch.randn(2, 3, 5, size, generator=generator) for _ in range(count)]


def test_features_are_a_softmax_over_projections_and_their_negatives():
    weight, bias = torch.tensor([[[1.0], [2.0]]]), torch.tensor([[[0.5]]])
    found = features(torch.tensor([[[[0.1, 0.2]]]]), weight, bias)  # the projection is 1
    wanted = torch.tensor([1.0, -1.0]).exp() / torch.tensor([1.0, -1.0]).exp().sum()
    torch.testing.assert_close(found[0, 0, 0], wanted)


def test_values_are_mixed_by_normalized_products_of_features():
    query, key, value = (each.abs() for each in states(3, 4))
    weights = (query @ key.transpose(-1, -2)) * MASK[:, None, None]
    weights = weights / weights.sum(-1, keepdim=True)
    value = value.masked_fill(MASK[:, None, :, None] == 0, 1e4)  # what lies behind a text is poison
    wanted = (weights @ value.masked_fill(MASK[:, None, :, None] == 0, 0)).transpose(1, 2).flatten(2)
    torch.testing.assert_close(linear_attention(query, key, value, MASK), wanted, atol=1e-5, rtol=1e-5)


def test_the_loss_is_the_divergence_of_the_weights():
    query, key = (each.abs() for each in states(2, 4))
    (scores,) = states(1, 5)
    total, rows = 0.0, 0
    for text, length in enumerate((5, 3)):
        for head in range(3):
            for row in range(length):
                wanted = torch.softmax(scores[text, head, row, :length], 0)
                products = key[text, head, :length] @ query[text, head, row]
                total += float((wanted * (wanted.log() - (products / products.sum()).log())).sum())
                rows += 1
    torch.testing.assert_close(float(mimicry_loss(query, key, scores, MASK)), total / rows, atol=1e-5, rtol=0)


def test_equal_weights_have_no_loss():
    query, key = (each.abs() for each in states(2, 4))
    scores = torch.log(query @ key.transpose(-1, -2))
    assert abs(float(mimicry_loss(query, key, scores, MASK))) < 1e-6
