"""Attention against torch's own, and what biases hide."""

import pytest
import torch
from torch.nn import functional

from niwaki.models.attention import (
    MASKED_SCORE,
    attend,
    causal_bias,
    padding_bias,
    prefix_bias,
    split_heads,
    window_bias,
)
from niwaki.models.prefix import Prefix


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def same(x: torch.Tensor) -> torch.Tensor:
    return x


@pytest.fixture
def heads():
    """Queries of 3 rows, keys and values of 5 tokens: 2 texts, 4 heads of size 8."""
    return drawn(2, 4, 3, 8), drawn(2, 4, 5, 8), drawn(2, 4, 5, 8) + 1


def test_mixed_values_are_those_of_torch(heads):
    query, key, value = heads
    bias = padding_bias(torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]), query)
    mixed, scores = attend(query, key, value, bias, 8**-0.5, same)
    wanted = functional.scaled_dot_product_attention(query, key, value, bias)
    torch.testing.assert_close(mixed, wanted.transpose(1, 2).flatten(2), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(scores, query @ key.transpose(-1, -2) / 8**0.5)


def test_relative_scores_are_recorded_and_biases_are_not(heads):
    query, key, value = heads
    relative, bias = drawn(2, 4, 3, 5), drawn(1, 1, 3, 5)
    mixed, scores = attend(query, key, value, bias, 1.0, same, relative)
    wanted = functional.scaled_dot_product_attention(query, key, value, relative + bias, scale=1.0)
    torch.testing.assert_close(mixed, wanted.transpose(1, 2).flatten(2), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(scores, query @ key.transpose(-1, -2) + relative)


def test_a_prefix_is_like_further_tokens_in_front(heads):
    query, key, value = heads
    prefix = Prefix(drawn(2, 32), drawn(2, 32) - 1)
    mixed, scores = attend(query, key, value, None, 1.0, same, None, prefix)
    keys, values = (split_heads(part[None], 8).expand(2, -1, -1, -1) for part in (prefix.keys, prefix.values))
    whole = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
    wanted = functional.scaled_dot_product_attention(query, *whole, scale=1.0)
    torch.testing.assert_close(mixed, wanted.transpose(1, 2).flatten(2), atol=1e-5, rtol=1e-5)
    assert scores.shape == (2, 4, 3, 5)  # of the text alone


def test_dropout_is_applied_to_the_weights(heads):
    query, key, value = heads
    mixed, _ = attend(query, key, value, None, 1.0, lambda weights: 0 * weights)
    assert not mixed.any()


def test_heads_lie_side_by_side():
    x = torch.arange(12).view(1, 2, 6)  # two tokens, three heads of size 2
    assert split_heads(x, 2).tolist() == [[[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]]


def hidden(bias: torch.Tensor) -> list[list[int]]:
    """For each row which tokens are hidden."""
    assert set(bias.unique().tolist()) <= {0.0, MASKED_SCORE}
    return [[int(score < 0) for score in row] for row in bias[0, 0]]


def test_biases_by_hand():
    like = torch.zeros(1, 3, 4)
    assert hidden(padding_bias(torch.tensor([[1, 1, 0]]), like)) == [[0, 0, 1]]
    assert hidden(causal_bias(like)) == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert hidden(window_bias(4, 2, like)) == [[0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0], [1, 1, 0, 0]]


def test_generated_tokens_read_the_input_and_earlier_ones():
    padding = padding_bias(torch.tensor([[1, 1, 0]]), torch.zeros(1, 2, 4))
    assert hidden(prefix_bias(padding, torch.zeros(1, 2, 4))) == [
        [0, 0, 1, 1, 1],
        [0, 0, 1, 1, 1],
        [0, 0, 1, 1, 1],
        [0, 0, 1, 0, 1],
        [0, 0, 1, 0, 0],
    ]
