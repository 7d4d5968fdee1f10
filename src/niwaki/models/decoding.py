"""What a decoder does: each layer reads what was written so far, then what the encoder made of the text, then thinks by itself.

Keys and values of both are computed once and kept: those of the text before the first token, those of a written token with it.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from niwaki.models.layer import Drop, Layer, at_heads, attended, fed, kept, keys_and_values, read_by

Unit = tuple[
    Layer, Layer
]  # of a decoder's layer: the attention to what was written, and to what was read with what follows it
Pair = tuple[Tensor, Tensor]  # keys and values, each (batch, heads, tokens, head width)
OUT_OF_REACH = -1e4


def remembered(units: Sequence[Unit], memory: Tensor) -> list[Pair]:
    """What can be read, in each layer, of the encoder's last hidden states (batch, tokens, width)."""
    return [keys_and_values(other, memory) for _, other in units]


def decoded(
    units: Sequence[Unit], hidden: Tensor, memory: Sequence[Pair], unread: Tensor, past: Sequence[Pair] | None = None,
    drop: Drop = kept, bias: Tensor | None = None,
) -> tuple[Tensor, list[Pair]]:  # fmt: skip
    """(texts, rows, width) through all layers, and the keys and values of what is written by then. Rows are all tokens of what was
    written for a text, or, where there is a past, hypotheses of it, each one token further: they read the same text (but for
    `unread` tokens) and each its own past, (texts × hypotheses, heads, tokens, head width). `bias` is added to the scores of what
    was written, (1, heads, rows or 1, tokens)."""
    now: list[Pair] = []
    shape = hidden.shape
    for number, (own, other) in enumerate(units):
        scores = None if bias is None else at_heads(bias, own)
        if past is None:
            pair = keys_and_values(own, own.before("attention_norm", hidden))
            scores = causal(hidden) if scores is None else causal(hidden) + scores
            hidden = _attend(own, hidden, pair, scores, drop)
        else:
            hidden = hidden.reshape(-1, 1, shape[-1])
            pair = _longer(past[number], keys_and_values(own, own.before("attention_norm", hidden)))
            hidden = _attend(own, hidden, pair, scores, drop).reshape(shape)
        now.append(pair)
        hidden = fed(other, _attend(other, hidden, memory[number], unread, drop), drop)
    return hidden, now


def _attend(layer: Layer, rows: Tensor, pair: Pair, scores: Tensor | None, drop: Drop) -> Tensor:
    seen = layer.before("attention_norm", rows)
    return attended(layer, rows, lambda: read_by(layer, seen, *pair, scores, drop), drop)


def _longer(past: Pair, further: Pair) -> Pair:
    return torch.cat([past[0], further[0]], dim=2), torch.cat([past[1], further[1]], dim=2)


def causal(hidden: Tensor) -> Tensor:
    """(1, 1, tokens, tokens): no token reads a later one."""
    tokens = hidden.shape[1]
    return torch.full((tokens, tokens), OUT_OF_REACH, dtype=hidden.dtype, device=hidden.device).triu(1)[None, None]


def ignored(mask: Tensor, hidden: Tensor) -> Tensor:
    """(batch, tokens) to (batch, 1, 1, tokens): padding is not read."""
    return (1.0 - mask[:, None, None, :].to(hidden.dtype)) * OUT_OF_REACH
