"""The arithmetic of attention: pure functions on tensors."""

from collections.abc import Callable

import torch
from torch import Tensor

from niwaki.models.prefix import Prefix
from niwaki.models.recorded import Activation

MASKED_SCORE = -1e4  # lower than any score


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    scale: float,
    dropout: Callable[[Tensor], Tensor],
    relative: Tensor | None = None,
    prefix: Prefix | None = None,
    received: list[Tensor] | None = None,
    real: Tensor | None = None,
    shown: list[Activation] | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention of queries (batch, heads, rows, head size) over keys and values (batch, heads, tokens, head size).

    Gives the mixed values (batch, rows, heads × head size) and the scaled scores (batch, heads, rows, tokens) with `relative`, before
    `bias` is added. A prefix, of which `bias` hides nothing, is read besides. Where `received` is a list, it gets what each token receives from
    all heads and the `real` queries (batch, rows): (batch, tokens). Where `shown` is a list, it gets the weights after softmax, without those of
    the prefix. Plain products: for short sequences the backward pass of
    torch's fused attention takes a third of a training step on a CPU (benchmarks/training.py)."""
    scores = query @ key.transpose(-1, -2) * scale
    scores = scores if relative is None else scores + relative
    biased = scores if bias is None else scores + bias
    if prefix is None:
        weights = torch.softmax(biased, dim=-1)  # torch adds bf16 up in fp32
        if received is not None:
            received.append(_received(weights, real))
        if shown is not None:
            shown.append(weights)
        return (dropout(weights) @ value).transpose(1, 2).flatten(2), scores
    first, mixed = (split_heads(one[None].to(query.dtype), query.shape[-1]) for one in (prefix.keys, prefix.values))
    weights = torch.softmax(torch.cat([query @ first.transpose(-1, -2) * scale, biased], dim=-1), dim=-1)
    count = first.shape[2]
    if received is not None:
        received.append(_received(weights[..., count:], real))
    if shown is not None:
        shown.append(weights[..., count:])
    weights = dropout(weights)
    both = weights[..., :count] @ mixed + weights[..., count:] @ value
    return both.transpose(1, 2).flatten(2), scores


def _received(weights: Tensor, real: Tensor | None) -> Tensor:
    """(batch, heads, rows, tokens) to (batch, tokens): the sum over heads and real rows."""
    heads = weights.detach().float().sum(dim=1)
    return heads.sum(dim=1) if real is None else (real[:, None].to(heads.dtype) @ heads)[:, 0]


def split_heads(x: Tensor, head_size: int) -> Tensor:
    """(batch, tokens, heads × head size) to (batch, heads, tokens, head size)."""
    return x.unflatten(-1, (-1, head_size)).transpose(1, 2)


def padding_bias(mask: Tensor, like: Tensor) -> Tensor:
    """(batch, tokens) to (batch, 1, 1, tokens), added to scores: 0 for real tokens, very low for padding."""
    return (1.0 - mask[:, None, None, :].to(like.dtype)) * MASKED_SCORE


def causal_bias(hidden: Tensor) -> Tensor:
    """(1, 1, tokens, tokens), added to scores: no token reads a later one."""
    places = torch.arange(hidden.shape[1], device=hidden.device)  # compared, because exported graphs have no triangles
    later = places[None] > places[:, None]
    return (later.to(hidden.dtype) * MASKED_SCORE)[None, None]


def window_bias(tokens: int, window: int, like: Tensor) -> Tensor:
    """(1, 1, tokens, tokens), added to scores: no token reads one that is `window` or more away."""
    places = torch.arange(tokens, device=like.device)
    far = (places[None] - places[:, None]).abs() >= window
    return (far.to(like.dtype) * MASKED_SCORE)[None, None]


def prefix_bias(padding: Tensor, generated: Tensor) -> Tensor:
    """Input and generated tokens as one sequence: (batch, 1, both, both), added to scores. All tokens read the input but
    for its `padding` (batch, 1, 1, tokens); generated tokens (batch, tokens, hidden) are read by later ones alone."""
    across = generated.new_full((padding.shape[-1], generated.shape[1]), MASKED_SCORE)
    later = torch.cat([across, causal_bias(generated)[0, 0]])  # (both, generated)
    rows = len(padding), 1, len(later)
    return torch.cat([padding.expand(*rows, -1), later.expand(*rows, -1)], dim=-1)
