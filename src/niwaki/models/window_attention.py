"""Attention to a window of tokens around each, and to the first tokens of the text: pure functions on tensors.

Tokens are cut into blocks as long as the window reaches to one side, so the window of every token lies in its own block and the
two next to it. Time and memory are linear in the length of the text.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.models.attention import MASKED_SCORE

Dropout = Callable[[Tensor], Tensor]


class Reach(NamedTuple):
    """Which tokens a token attends to."""

    window: int  # tokens on each side
    global_tokens: int  # the first tokens of the text attend to all, and all to them
    causal: bool = False  # no token attends to a later one


def window_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, reach: Reach, bias: Tensor | None, dropout: Dropout
) -> Tensor:
    """Scaled queries, keys and values (batch, heads, tokens, head size), mask (batch, tokens), to (batch, tokens, heads × head size).
    `bias` (1 or batch, heads, tokens, tokens) is added to the scores."""
    first = reach.global_tokens
    local = local_attention(query, key, value, mask, reach, bias, dropout)
    if first:
        own = None if bias is None else bias[:, :, :first]
        whole = global_attention(query[:, :, :first], key, value, mask, reach.causal, own, dropout)
        local = torch.cat([whole, local[:, :, first:]], dim=2)
    return local.transpose(1, 2).flatten(2)


def global_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, causal: bool, bias: Tensor | None, dropout: Dropout
) -> Tensor:
    """The first tokens over all: (batch, heads, rows, head size)."""
    visible = mask.bool()[:, None, None]
    if causal:
        places = torch.arange(key.shape[2], device=key.device)
        visible = visible & (places[None] <= places[: query.shape[2], None])
    scores = query @ key.transpose(-1, -2)
    scores = scores if bias is None else scores + bias
    return dropout(torch.softmax(scores.masked_fill(~visible, MASKED_SCORE), dim=-1)) @ value


def local_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, reach: Reach, bias: Tensor | None, dropout: Dropout
) -> Tensor:
    """All tokens over their windows and the first tokens: (batch, heads, tokens, head size)."""
    places = (mask * 0 + 1).cumsum(dim=1)[:, None, :, None] - 1  # exporters make a constant of `ones_like`
    real = mask.bool()[:, None, :, None]
    size = reach.window
    whole = mask.shape[1] + size - mask.shape[1] % size  # tokens of all blocks
    rows, at = (_blocks(each, size, whole) for each in (query, places))
    keys, values, seen, there = (_neighbours(each, size, whole) for each in (key, value, real, places))
    there = there.transpose(-1, -2)  # (batch, 1, blocks, 1, 3 × block); `at` is (batch, 1, blocks, block, 1)
    visible = seen.transpose(-1, -2) & (there >= reach.global_tokens) & ((there - at).abs() <= reach.window)
    scores = _scores(rows, keys, visible, at, there, reach.causal, bias)
    if not reach.global_tokens:
        return _joined(dropout(torch.softmax(scores, dim=-1)) @ values, mask.shape[1])
    keys, shared, seen, there = (each[:, :, : reach.global_tokens][:, :, None] for each in (key, value, real, places))
    there = there.transpose(-1, -2)
    across = _scores(rows, keys, seen.transpose(-1, -2), at, there, reach.causal, bias)
    weights = dropout(torch.softmax(torch.cat([across, scores], dim=-1), dim=-1))
    first = keys.shape[3]  # fewer than the global tokens in a shorter text
    return _joined(weights[..., :first] @ shared + weights[..., first:] @ values, mask.shape[1])


def _scores(
    rows: Tensor, keys: Tensor, visible: Tensor, at: Tensor, there: Tensor, causal: bool, bias: Tensor | None
) -> Tensor:
    """(batch, heads, blocks, rows, keys); very low where a key is not visible."""
    scores = rows @ keys.transpose(-1, -2)
    if bias is not None:  # places are those of the first text, as they are the same for all
        last = bias.shape[-1] - 1
        scores = scores + bias[0][:, at[0, 0].clamp(max=last), there[0, 0].clamp(max=last)]
    return scores.masked_fill(~(visible & (there <= at) if causal else visible), MASKED_SCORE)


def _joined(blocks: Tensor, tokens: int) -> Tensor:
    """(batch, heads, blocks, size, head size) to (batch, heads, tokens, head size), without what was added behind the text."""
    return blocks.flatten(2, 3)[:, :, :tokens]


def _blocks(x: Tensor, size: int, whole: int) -> Tensor:
    """(batch, heads, tokens, …) to (batch, heads, blocks, size, …), with zeros behind the last token."""
    return _padded(x, 0, size)[:, :, :whole].unflatten(2, (-1, size))


def _neighbours(x: Tensor, size: int, whole: int) -> Tensor:
    """(batch, heads, tokens, …) to (batch, heads, blocks, 3 × size, …): each block between the one before and the one behind it."""
    padded = _padded(x, size, 2 * size)
    shifted = [padded[:, :, start : start + whole].unflatten(2, (-1, size)) for start in (0, size, 2 * size)]
    return torch.cat(shifted, dim=3)


def _padded(x: Tensor, before: int, after: int) -> Tensor:
    return functional.pad(x, (0, 0) * (x.dim() - 3) + (before, after))
