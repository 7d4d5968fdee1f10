"""What a decoder does: each layer reads what was written so far, then what the encoder made of the text, then thinks by itself.

Keys and values of both are computed once and kept: those of the text before the first token, those of a written token with it.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

from niwaki.models.layer import (
    MASKED_SCORE,
    Layer,
    at_heads,
    has_attention,
    keys_and_values,
    multi_head_attention,
    run_attention,
    run_ffn,
    split_heads,
)

# of a decoder's layer: the attention to what was written, and to what was read with what follows it
DecoderLayer = tuple[Layer, Layer]
KeyValue = tuple[Tensor, Tensor]  # keys and values, each (batch, heads, tokens, head width)


def cross_keys_and_values(decoder_layers: Sequence[DecoderLayer], memory: Tensor) -> list[KeyValue]:
    """What can be read, in each layer that reads, of the encoder's last hidden states (batch, tokens, width)."""
    return [keys_and_values(other, memory) for _, other in decoder_layers if has_attention(other)]


def run_decoder(
    decoder_layers: Sequence[DecoderLayer],
    hidden: Tensor,
    memory: Sequence[KeyValue],
    unread: Tensor,
    past: Sequence[KeyValue] | None = None,
    bias: Tensor | None = None,
    passed: list[Tensor] | None = None,
) -> tuple[Tensor, list[KeyValue]]:
    """(texts, rows, width) through all layers, and the keys and values of what is written by then. Rows are all tokens of what was
    written for a text, or, where there is a past, hypotheses of it, each one token further: they read the same text (but for
    `unread` tokens) and each its own past, (texts × hypotheses, heads, tokens, head width). An attention that is gone has none.
    `bias` is added to the scores of what was written, (1, heads, rows or 1, tokens). What each layer gives goes to the end of
    `passed`."""
    now: list[KeyValue] = []
    seen, before = iter(memory), None if past is None else iter(past)
    for own, other in decoder_layers:
        hidden = run_attention(own, hidden, partial(_of_written, own, hidden, before, now, bias))
        hidden = run_attention(other, hidden, partial(_of_read, other, hidden, seen, unread))
        hidden = run_ffn(other, hidden)
        if passed is not None:
            passed.append(hidden)
    return hidden, now


def _of_written(
    layer: Layer, rows: Tensor, before: Iterator[KeyValue] | None, now: list[KeyValue], bias: Tensor | None
) -> Tensor:
    """What the rows (texts, rows, width) read of what was written; its keys and values go to the end of `now`."""
    rows = layer.before("attention_norm", rows)
    scores = None if bias is None else at_heads(bias, layer)
    if before is None:
        now.append(keys_and_values(layer, rows))
        return multi_head_attention(
            layer, rows, *now[-1], causal_mask(rows) if scores is None else causal_mask(rows) + scores
        )
    alone = rows.reshape(-1, 1, rows.shape[-1])
    now.append(_longer(next(before), keys_and_values(layer, alone)))
    return multi_head_attention(layer, alone, *now[-1], scores).reshape(*rows.shape[:2], -1)


def _of_read(layer: Layer, rows: Tensor, memory: Iterator[KeyValue], unread: Tensor) -> Tensor:
    return multi_head_attention(layer, layer.before("attention_norm", rows), *next(memory), unread)


def run_prefix_decoder(
    layers: Sequence[Layer], hidden: Tensor, memory: Sequence[KeyValue], unread: Tensor, past: Sequence[KeyValue]
) -> tuple[Tensor, list[KeyValue]]:
    """The same where one attention reads both: hypotheses (texts, rows, width), each one token further, through layers that keep
    keys and values of the text in `memory` and of what was written in `past`."""
    now: list[KeyValue] = []
    seen, before = iter(memory), iter(past)
    for layer in layers:
        hidden = run_ffn(
            layer, run_attention(layer, hidden, partial(_of_both, layer, hidden, seen, before, now, unread))
        )
    return hidden, now


def _of_both(
    layer: Layer,
    rows: Tensor,
    memory: Iterator[KeyValue],
    before: Iterator[KeyValue],
    now: list[KeyValue],
    unread: Tensor,
) -> Tensor:
    """What the rows (texts, rows, width) read; the text's keys and values are not copied for each."""
    rows = layer.before("attention_norm", rows)
    (texts, hypotheses, _), (key, value) = rows.shape, next(memory)
    now.append(_longer(next(before), keys_and_values(layer, rows.reshape(texts * hypotheses, 1, -1))))
    written_key, written_value = (part.reshape(texts, hypotheses, layer.heads, -1, layer.head_size) for part in now[-1])
    query = split_heads(layer.part("query")(rows), layer.head_size) * layer.scale  # (texts, heads, rows, head width)
    each = query.transpose(1, 2)[..., None, :]  # (texts, rows, heads, 1, head width)
    of_text = query @ key.transpose(-1, -2) + unread
    of_written = (each @ written_key.transpose(-1, -2)).squeeze(-2).transpose(1, 2)
    weights = torch.softmax(torch.cat([of_text, of_written], dim=-1), dim=-1)  # (texts, heads, rows, both)
    tokens = key.shape[2]
    mixed = (weights[..., :tokens] @ value).transpose(1, 2)  # (texts, rows, heads, head width)
    return (mixed + (weights[..., tokens:].transpose(1, 2)[..., None, :] @ written_value).squeeze(-2)).flatten(2)


def _longer(past: KeyValue, further: KeyValue) -> KeyValue:
    return torch.cat([past[0], further[0]], dim=2), torch.cat([past[1], further[1]], dim=2)


def prefix_mask(unread: Tensor, hidden: Tensor) -> Tensor:
    """What is read, then what is written, as one row of tokens: (batch, 1, both, both), added to scores. All read the text, but for
    its `unread` tokens (batch, 1, 1, tokens); what is written is read by what comes behind it alone. `hidden` is the written's."""
    across = hidden.new_full((unread.shape[-1], hidden.shape[1]), MASKED_SCORE)
    later = torch.cat([across, causal_mask(hidden)[0, 0]])  # (both, written)
    rows = len(unread), 1, len(later)
    return torch.cat([unread.expand(*rows, -1), later.expand(*rows, -1)], dim=-1)


def causal_mask(hidden: Tensor) -> Tensor:
    """(1, 1, tokens, tokens): no token reads a later one."""
    tokens = hidden.shape[1]
    return torch.full((tokens, tokens), MASKED_SCORE, dtype=hidden.dtype, device=hidden.device).triu(1)[None, None]
