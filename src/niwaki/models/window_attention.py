"""Attention to a window of tokens around each, and to the first tokens of the text: pure functions on tensors.

Tokens are cut into blocks as long as the window reaches to one side, so the window of every token lies in its own block and the
two next to it. Time and memory are linear in the length of the text. Dilated windows are windows on every second, third … token:
the text is cut into as many strands of such tokens, each with windows of its own.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.models.attention import MASKED_SCORE

Dropout = Callable[[Tensor], Tensor]
BiasAt = Callable[[Tensor], Tensor]


class Reach(NamedTuple):
    """Which tokens a token attends to."""

    window: int  # tokens on each side
    global_tokens: int  # the first tokens of the text attend to all, and all to them
    causal: bool = False  # no token attends to a later one
    dilation: int = 1  # the window holds every second (2), third (3) … token alone


def window_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, reach: Reach, bias: BiasAt | None, dropout: Dropout
) -> Tensor:
    """Scaled queries, keys and values (batch, heads, tokens, head size), mask (batch, tokens), to (batch, tokens, heads × head size).
    Queries may be those of the first, global token alone. `bias` says of distances from query to key (…) what is added to their scores, (…, heads)."""
    first = reach.global_tokens
    if query.shape[2] == 1 and first:  # the first token alone is wanted, or there is no other
        whole = global_attention(query, key, value, mask, reach.causal, bias, dropout)
        return whole.transpose(1, 2).flatten(2)
    local = local_attention(query, key, value, mask, reach, bias, dropout)
    if first:
        whole = global_attention(query[:, :, :first], key, value, mask, reach.causal, bias, dropout)
        local = torch.cat([whole, local[:, :, first:]], dim=2)
    return local.transpose(1, 2).flatten(2)


def global_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, causal: bool, bias: BiasAt | None, dropout: Dropout
) -> Tensor:
    """The first tokens over all: (batch, heads, rows, head size)."""
    visible = mask.bool()[:, None, None]
    places = (mask[:1] * 0 + 1).cumsum(dim=1) - 1  # (1, tokens)
    distances = places - places[:, : query.shape[2]].T  # (rows, tokens)
    if causal:
        visible = visible & (distances <= 0)
    scores = query @ key.transpose(-1, -2)
    scores = scores if bias is None else scores + bias(distances).permute(2, 0, 1)[None]
    return dropout(torch.softmax(scores.masked_fill(~visible, MASKED_SCORE), dim=-1)) @ value


def local_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, reach: Reach, bias: BiasAt | None, dropout: Dropout
) -> Tensor:
    """All tokens over their windows and the first tokens: (batch, heads, tokens, head size)."""
    places = (mask * 0 + 1).cumsum(dim=1)[:, None, :, None] - 1  # exporters make a constant of `ones_like`
    real = mask.bool()[:, None, :, None]
    everything, tokens, count = (query, key, value, real, places), mask.shape[1], reach.dilation
    if count == 1:
        return _local(everything, everything, tokens, reach, bias, dropout)
    length = tokens // count + 1  # of a strand, with what is added behind the text
    strands = tuple(_strands(each, count, length) for each in everything)
    mixed = _local(strands, everything, length, reach, bias, dropout)
    return _woven(mixed, count)[:, :, :tokens]


def _local(
    strands: Sequence[Tensor],
    texts: Sequence[Tensor],
    tokens: int,
    reach: Reach,
    bias: BiasAt | None,
    dropout: Dropout,
) -> Tensor:
    """Queries, keys, values, which of them are real, and their places: of the tokens that have windows, and of the texts that these tokens
    are from, which have the global tokens. `tokens` is the length of a strand; in exported graphs no state shows it."""
    query, key, value, real, places = strands
    size = reach.window
    whole = tokens + size - tokens % size  # tokens of all blocks
    rows, at = (_blocks(each, size, whole) for each in (query, places))
    keys, values, seen, there = (_neighbours(each, size, whole) for each in (key, value, real, places))
    there = there.transpose(-1, -2)  # (batch, 1, blocks, 1, 3 × block); `at` is (batch, 1, blocks, block, 1)
    near = (there - at).abs() <= reach.window * reach.dilation
    visible = seen.transpose(-1, -2) & (there >= reach.global_tokens) & near
    steps = torch.arange(3 * size, device=query.device) * reach.dilation
    apart = (steps[None] - steps[size : 2 * size, None])[None, None]  # (1, 1, block, 3 × block), the same in all blocks
    added = None if bias is None else _by_head(bias, apart)
    if reach.global_tokens:  # they come before the window's keys
        first = (each[:, :, : reach.global_tokens][:, :, None] for each in texts[1:])
        shared = [torch.stack([each] * reach.dilation, dim=1).flatten(0, 1) for each in first]
        seen, before = (each.transpose(-1, -2) for each in shared[2:])  # (batch, 1, 1, 1, global tokens)
        visible = torch.cat([seen & (at >= 0), visible], dim=-1)
        there = torch.cat([before + at * 0, there + at * 0], dim=-1)
        keys, values = (_in_front(own, each) for own, each in zip(shared, (keys, values), strict=False))
        if bias is not None and added is not None:
            across = _by_head(bias, before[: reach.dilation, 0] - at[: reach.dilation, 0])
            added = torch.cat([across, added + across[..., :1] * 0], dim=-1)
    scores = rows @ keys.transpose(-1, -2)
    if added is not None:
        scores = (scores.unflatten(0, (-1, reach.dilation)) + added).flatten(0, 1)
    visible = visible & (there <= at) if reach.causal else visible
    return _joined(dropout(torch.softmax(scores.masked_fill(~visible, MASKED_SCORE), dim=-1)) @ values, tokens)


def _by_head(bias: BiasAt, apart: Tensor) -> Tensor:
    """For distances (strands or 1, blocks or 1, rows, keys): (strands or 1, heads, blocks or 1, rows, keys)."""
    return bias(apart).permute(0, 4, 1, 2, 3)


def _in_front(first: Tensor, blocks: Tensor) -> Tensor:
    """The global tokens (batch, heads, 1, global tokens, head size) in front of the keys of each block."""
    return torch.cat([first + blocks[:, :, :, :1, :1] * 0, blocks], dim=3)


def _strands(x: Tensor, count: int, length: int) -> Tensor:
    """(batch, heads, tokens, …) to (batch × count, heads, length, …): every count-th token, from each of the first on."""
    return _padded(x, 0, count)[:, :, : length * count].unflatten(2, (-1, count)).movedim(3, 1).flatten(0, 1)


def _woven(x: Tensor, count: int) -> Tensor:
    """The opposite of `_strands`."""
    return x.unflatten(0, (-1, count)).movedim(1, 3).flatten(2, 3)


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
