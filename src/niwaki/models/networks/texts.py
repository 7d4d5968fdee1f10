"""Which token belongs to which text, and from the states of tokens to one vector for each text. Padding never counts."""

import torch
from torch import Tensor

from niwaki.models.attention import MASKED_SCORE


def texts_of(ids: Tensor, mask: Tensor, separator: int | None, count: int) -> Tensor:
    """(batch, tokens) to (batch, count, tokens): 1 where a token is real and belongs to the text. The first of two texts
    ends with the first separator: so it is with every tokenizer, also with those that give both texts one token type."""
    real = mask.float()
    if count == 1 or separator is None:
        return torch.stack([real, *[torch.zeros_like(real)] * (count - 1)], dim=1)
    marks = (ids == separator).int()
    first = (torch.cumsum(marks, dim=1) - marks == 0).float()
    return torch.stack([real * first, real * (1 - first)], dim=1)


def highest(states: Tensor, texts: Tensor) -> Tensor:
    """(batch, tokens, width) and (batch, texts, tokens) to the largest value of each column in each text
    (batch, texts, width); 0 where a text has no token."""
    apart = states[:, None].masked_fill(texts[..., None] == 0, MASKED_SCORE)
    return apart.amax(dim=2) * texts.amax(dim=2)[..., None]


def mean(states: Tensor, texts: Tensor) -> Tensor:
    """The mean over each text's tokens (batch, texts, width); 0 where a text has none."""
    return (texts / texts.sum(dim=2, keepdim=True).clamp(min=1)).to(states.dtype) @ states


def shares(scores: Tensor, texts: Tensor) -> Tensor:
    """Scores of tokens (batch, tokens) to their shares in each text (batch, texts, tokens), which add up to 1."""
    apart = scores[:, None].masked_fill(texts == 0, MASKED_SCORE)
    return torch.softmax(apart, dim=2) * texts


def later(states: Tensor, distance: int) -> Tensor:
    """(batch, tokens, width): in each token's place the one that stands so far behind it; beyond the end are zeros."""
    beyond = states[:, :1] * 0  # and not by its sizes, which the tracing of a graph may take for fixed
    return torch.cat([states, *[beyond] * distance], dim=1)[:, distance:]


def compared(texts: Tensor) -> Tensor:
    """One vector (batch, 1, width) as it is; two beside each other, with their distance and product: (batch, 4 × width)."""
    if texts.shape[1] == 1:
        return texts[:, 0]
    one, two = texts[:, 0], texts[:, 1]
    return torch.cat([one, two, (one - two).abs(), one * two], dim=-1)


def beside_first(states: Tensor, texts: Tensor) -> Tensor:
    """States for answers to each token (batch, tokens, width): of two texts, beside what the first one says (a question, of
    whose answer the second one is searched) and their product, 3 × width."""
    if texts.shape[1] == 1:
        return states
    first = highest(states, texts)[:, :1].expand(-1, states.shape[1], -1)
    return torch.cat([states, first, states * first], dim=-1)
