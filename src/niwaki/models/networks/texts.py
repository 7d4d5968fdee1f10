"""Assigns tokens to texts, and pools token states into one vector for each text. Padding is ignored."""

import torch
from torch import Tensor

from niwaki.models.attention import MASKED_SCORE


def texts_of(ids: Tensor, mask: Tensor, separator: int | None, count: int) -> Tensor:
    """(batch, tokens) to (batch, count, tokens): 1 if a token belongs to the text and is not padding. The first of two texts ends with
    the first separator, also for tokenizers that give both texts the same token type."""
    real = mask.float()
    if count == 1 or separator is None:
        return torch.stack([real, *[torch.zeros_like(real)] * (count - 1)], dim=1)
    separators = (ids == separator).int()
    first = (torch.cumsum(separators, dim=1) - separators == 0).float()
    return torch.stack([real * first, real * (1 - first)], dim=1)


def highest(states: Tensor, texts: Tensor) -> Tensor:
    """(batch, tokens, width) and (batch, texts, tokens) to the maximum over each text's tokens (batch, texts, width); 0 for an
    empty text."""
    apart = states[:, None].masked_fill(texts[..., None] == 0, MASKED_SCORE)
    return apart.amax(dim=2) * texts.amax(dim=2)[..., None]


def last(states: Tensor, texts: Tensor) -> Tensor:
    """The state of each text's last token (batch, texts, width); 0 for an empty text."""
    behind = later(texts.transpose(1, 2), 1).transpose(1, 2)  # whether the next token is of the text too
    return (texts * (1 - behind)).to(states.dtype) @ states


def first(states: Tensor, texts: Tensor) -> Tensor:
    """The state of each text's first token (batch, texts, width); 0 for an empty text."""
    counted = torch.cumsum(texts, dim=2)  # 1 from the first token to the second
    return (texts * (counted == 1).to(texts.dtype)).to(states.dtype) @ states


def mean(states: Tensor, texts: Tensor) -> Tensor:
    """The mean over each text's tokens (batch, texts, width); 0 for an empty text."""
    return (texts / texts.sum(dim=2, keepdim=True).clamp(min=1)).to(states.dtype) @ states


def shares(scores: Tensor, texts: Tensor) -> Tensor:
    """Softmax of scores (batch, tokens) over each text's tokens, (batch, texts, tokens)."""
    apart = scores[:, None].masked_fill(texts == 0, MASKED_SCORE)
    return torch.softmax(apart, dim=2) * texts


def later(states: Tensor, distance: int) -> Tensor:
    """(batch, tokens, width) shifted: each token's state becomes that of the token `distance` later, 0 beyond the end."""
    beyond = states[:, :1] * 0  # not new_zeros: tracing a graph may fix its sizes
    return torch.cat([states, *[beyond] * distance], dim=1)[:, distance:]


def compared(texts: Tensor) -> Tensor:
    """One text: its vector (batch, width). Two: both vectors, their absolute difference and product (batch, 4 × width)."""
    if texts.shape[1] == 1:
        return texts[:, 0]
    one, two = texts[:, 0], texts[:, 1]
    return torch.cat([one, two, (one - two).abs(), one * two], dim=-1)


def with_first_text(states: Tensor, texts: Tensor) -> Tensor:
    """Token states (batch, tokens, width); for two texts, concatenated with the maximum over the first text (e.g. the question) and
    their product (batch, tokens, 3 × width)."""
    if texts.shape[1] == 1:
        return states
    first = highest(states, texts)[:, :1].expand(-1, states.shape[1], -1)
    return torch.cat([states, first, states * first], dim=-1)
