"""What a decoder computes: each layer attends to the generated tokens, then to the encoder's output, then feeds forward.

Keys and values are computed once and cached: those of the input before the first token, those of a generated token with it.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

from niwaki.models.attention import causal_bias, split_heads
from niwaki.models.layer import Layer
from niwaki.models.layout import Packed
from niwaki.models.recorded import Activation

# of a decoder's layer: attention to the generated tokens, and to the input with the feed-forward block behind it
DecoderLayer = tuple[Layer, Layer]
KeyValue = tuple[Tensor, Tensor]  # keys and values, each (batch, heads, tokens, head size)


def run_attention(layer: Layer, rows: Tensor, attended: Callable[[], Tensor]) -> Tensor:
    """Rows (…, hidden) with what the heads read added to them. An attention that was removed is not run."""
    return layer.add(rows, layer.part("out")(rows if layer.mixer.removed else attended()))


def cross_keys_and_values(layers: Sequence[DecoderLayer], memory: Tensor) -> list[KeyValue]:
    """Of the encoder's last hidden states (batch, tokens, hidden), for each attention that was not removed."""
    return [cross.mixer.keys_and_values(memory) for _, cross in layers if not cross.mixer.removed]


def run_decoder(
    layers: Sequence[DecoderLayer],
    hidden: Tensor,
    memory: Sequence[KeyValue],
    padding: Tensor,
    past: Sequence[KeyValue] | None = None,
    bias: Tensor | None = None,
    record: list[Activation] | None = None,
) -> tuple[Tensor, list[KeyValue]]:
    """(texts, rows, hidden) through all layers, and keys and values of the generated tokens.

    Without a past, rows are all tokens generated for a text. With a past, rows are hypotheses, each one token further: they
    read the same text and each its own past, (texts × hypotheses, heads, tokens, head size). `padding` is added to scores of the
    input, `bias` (1, heads, rows or 1, tokens) to those of generated tokens. `record` receives each layer's output."""
    now: list[KeyValue] = []
    seen, before = iter(memory), None if past is None else iter(past)
    for own, cross in layers:
        hidden = run_attention(own, hidden, partial(_generated, own, hidden, before, now, bias))
        hidden = run_attention(cross, hidden, partial(_input, cross, hidden, seen, padding))
        hidden = cross.feed(hidden)
        if record is not None:
            record.append(hidden)
    return hidden, now


def run_packed_decoder(
    layers: Sequence[DecoderLayer],
    rows: Tensor,
    layout: Packed,
    memory: Sequence[KeyValue],
    padding: Tensor,
    record: list[Activation] | None = None,
) -> Tensor:
    """All generated tokens at once as packed rows (tokens, hidden); `layout` is causal. Only attention to the input is padded."""
    seen = iter(memory)

    def read_input(cross: Layer, wanted: Tensor) -> Tensor:
        return layout.pack(_input(cross, layout.unpack(wanted), seen, padding))

    for own, cross in layers:
        rows = own.add(rows, own.mixer.forward(own.before("attention_norm", rows), layout, {}))
        rows = run_attention(cross, rows, partial(read_input, cross, rows))
        rows = cross.feed(rows)
        if record is not None:
            record.append(layout.unpack(rows))
    return rows


def _generated(
    layer: Layer, rows: Tensor, before: Iterator[KeyValue] | None, now: list[KeyValue], bias: Tensor | None
) -> Tensor:
    """What the rows (texts, rows, hidden) read of generated tokens, whose keys and values are appended to `now`."""
    attention, rows = layer.mixer, layer.before("attention_norm", rows)
    own = None if bias is None else attention.pick_heads(bias)
    if before is None:
        now.append(attention.keys_and_values(rows))
        later = causal_bias(rows)
        return attention.attend_to(rows, *now[-1], later if own is None else later + own)
    alone = rows.reshape(-1, 1, rows.shape[-1])
    now.append(_longer(next(before), attention.keys_and_values(alone)))
    return attention.attend_to(alone, *now[-1], own).reshape(*rows.shape[:2], -1)


def _input(layer: Layer, rows: Tensor, memory: Iterator[KeyValue], padding: Tensor) -> Tensor:
    return layer.mixer.attend_to(layer.before("attention_norm", rows), *next(memory), padding)


def run_prefix_decoder(
    layers: Sequence[Layer], hidden: Tensor, memory: Sequence[KeyValue], padding: Tensor, past: Sequence[KeyValue]
) -> tuple[Tensor, list[KeyValue]]:
    """The same where one attention reads both: hypotheses (texts, rows, hidden), each one token further, with keys and values
    of the input in `memory` and of generated tokens in `past`."""
    now: list[KeyValue] = []
    seen, before = iter(memory), iter(past)
    for layer in layers:
        hidden = layer.feed(run_attention(layer, hidden, partial(_both, layer, hidden, seen, before, now, padding)))
    return hidden, now


def _both(
    layer: Layer,
    rows: Tensor,
    memory: Iterator[KeyValue],
    before: Iterator[KeyValue],
    now: list[KeyValue],
    padding: Tensor,
) -> Tensor:
    """What the rows (texts, rows, hidden) read; the input's keys and values are not copied for each."""
    attention, rows = layer.mixer, layer.before("attention_norm", rows)
    (texts, hypotheses, _), (key, value) = rows.shape, next(memory)
    now.append(_longer(next(before), attention.keys_and_values(rows.reshape(texts * hypotheses, 1, -1))))
    shape = (texts, hypotheses, attention.heads, -1, attention.head_size)
    generated_key, generated_value = (part.reshape(shape) for part in now[-1])
    query = split_heads(layer.part("query")(rows), attention.head_size) * attention.scale
    each = query.transpose(1, 2)[..., None, :]  # (texts, rows, heads, 1, head size)
    of_input = query @ key.transpose(-1, -2) + padding
    of_generated = (each @ generated_key.transpose(-1, -2)).squeeze(-2).transpose(1, 2)
    weights = torch.softmax(torch.cat([of_input, of_generated], dim=-1), dim=-1)  # (texts, heads, rows, both)
    tokens = key.shape[2]
    mixed = (weights[..., :tokens] @ value).transpose(1, 2)  # (texts, rows, heads, head size)
    return (mixed + (weights[..., tokens:].transpose(1, 2)[..., None, :] @ generated_value).squeeze(-2)).flatten(2)


def _longer(past: KeyValue, further: KeyValue) -> KeyValue:
    return torch.cat([past[0], further[0]], dim=2), torch.cat([past[1], further[1]], dim=2)
