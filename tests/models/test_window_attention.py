"""Attention to windows, next to dense attention with the same mask."""

import random

import pytest
import torch
from torch import Tensor

from niwaki.models.attention import MASKED_SCORE
from niwaki.models.window_attention import Reach, window_attention


def dense(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, reach: Reach, bias) -> Tensor:
    """The definition: a score for every pair of tokens."""
    i, j = torch.arange(query.shape[2])[:, None], torch.arange(query.shape[2])[None]
    near = ((i - j).abs() <= reach.window * reach.dilation) & ((i - j) % reach.dilation == 0)
    visible = near | (j < reach.global_tokens) | (i < reach.global_tokens)
    if reach.causal:
        visible = visible & (j <= i)
    scores = query @ key.transpose(-1, -2) + (0 if bias is None else bias(j - i).permute(2, 0, 1)[None])
    hidden = ~(visible[None, None] & mask.bool()[:, None, None])
    return (torch.softmax(scores.masked_fill(hidden, MASKED_SCORE), -1) @ value).transpose(1, 2).flatten(2)


@pytest.mark.parametrize("seed", range(60))
def test_windows_equal_dense_attention_with_the_same_mask(seed):
    """Random sizes; what lies behind the end of a text is poison."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    batch, heads, tokens, size = draw.randint(1, 3), draw.randint(1, 3), draw.randint(1, 40), draw.randint(1, 9)
    reach = Reach(draw.randint(1, 45), draw.randint(0, 4), draw.random() < 0.3, draw.choice([1, 1, 2, 3]))
    states = [torch.randn(batch, heads, tokens, size) for _ in range(3)]
    mask = (torch.arange(tokens)[None] < torch.randint(1, tokens + 1, (batch, 1))).long()
    table = torch.randn(401, heads)
    bias = (lambda apart: table[apart.clamp(-200, 200) + 200]) if draw.random() < 0.4 else None
    wanted = dense(*states, mask, reach, bias)
    for state in states:
        state[~mask.bool()[:, None].expand(batch, heads, tokens)] = 1e4
    found = window_attention(*states, mask, reach, bias, lambda weights: weights)
    torch.testing.assert_close(found[mask.bool()], wanted[mask.bool()], atol=1e-5, rtol=0)


def test_memory_grows_linearly_with_the_text():
    """No tensor has an entry for every pair of tokens."""
    largest: list[int] = []

    class Largest(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            largest.append(out.numel() if isinstance(out, Tensor) else 0)
            return out

    sizes = []
    for tokens in (512, 1024):
        states = [torch.randn(1, 1, tokens, 2) for _ in range(3)]
        with Largest():
            window_attention(*states, torch.ones(1, tokens).long(), Reach(8, 1), None, lambda weights: weights)
        sizes.append(max(largest))
        largest.clear()
    assert sizes[1] < 2.1 * sizes[0] < 2.1 * 512 * 64
