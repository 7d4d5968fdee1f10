"""The encoder's forward pass, the only one there is: training, teachers, evaluation and export all run it.

    hidden ──> layer × N ──> hidden       layer:  attention ── + ── norm ── feed-forward ── + ── norm

Rows are (…, hidden); the layout (`layout.py`) knows how they form sequences. What a caller wants to see of the inside is
named by the keys of `record`: each list receives one tensor a layer, padded to (batch, tokens, …).
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from niwaki.models.layer import Layer, has_attention, run_attention, run_ffn
from niwaki.models.layout import Packed, Padded

HIDDEN, SCORES = "hidden", "scores"
DECODER_HIDDEN = "decoder_hidden"  # of a seq2seq network
STATES = ("queries", "keys", "values")  # of attention, before they are split into heads
PROJECTIONS = ("query", "key", "value")

Layout = Padded | Packed
Record = dict[str, list[Tensor]]


def run_layers(
    layers: Sequence[Layer], rows: Tensor, layout: Layout, bias: Tensor | None, every: bool, record: Record
) -> Tensor:
    """Rows through the layers in turn. Behind the last one come the rows of all tokens (`every`), or of the first token of
    each sequence, where that is all the head reads. `bias` (1 or batch, heads, tokens, tokens) is added to all scores."""
    given, rows = rows.dtype, in_working_type(layers, rows)
    for number, layer in enumerate(layers):
        rows = run_layer(layer, rows, layout, bias, every or number < len(layers) - 1, record)
        if HIDDEN in record:
            record[HIDDEN].append(layout.unpack(rows).to(given))
    return rows


def in_working_type(layers: Sequence[Layer], rows: Tensor) -> Tensor:
    """Rows in the type that autocast multiplies in, so that each product does not cast them anew. With norms first they
    are a sum over all layers, and keep their type."""
    kind = rows.device.type
    if not layers or layers[0].norms_first or rows.is_meta or not torch.is_autocast_enabled(kind):
        return rows
    return rows.to(torch.get_autocast_dtype(kind))


def run_layer(layer: Layer, rows: Tensor, layout: Layout, bias: Tensor | None, every: bool, record: Record) -> Tensor:
    """One layer; without `every` for the first token of each sequence alone."""
    wanted = rows if every else layout.first(rows)

    def mixed() -> Tensor:
        states = project(layer, layer.before("attention_norm", rows), layout, every)
        for name, state in zip(STATES, states, strict=True):
            if name in record:
                record[name].append(layout.unpack(state))
        query, key, value = states
        return layout.attend(layer, query, key, value, bias, record.get(SCORES))

    if not has_attention(layer) and not record.keys().isdisjoint((SCORES, *STATES)):
        mixed()  # the attention was removed, and its states are recorded nevertheless
    return run_ffn(layer, run_attention(layer, wanted, mixed))


def project(layer: Layer, rows: Tensor, layout: Layout, every: bool) -> Sequence[Tensor]:
    """Queries, keys and values of the rows; queries of the first token of each sequence unless `every`."""
    query, key, value = (layer.part(name) for name in PROJECTIONS)
    if every:
        return apply_together([query, key, value], rows)
    return query(layout.first(rows)), *apply_together([key, value], rows)


def apply_together(matrices: Sequence[Any], rows: Tensor) -> Sequence[Tensor]:
    """Outputs of several matrices for the same rows. While training, plain ones are multiplied as one: the rows are cast
    and read once, forward and backward. Otherwise each by itself, as copying weights costs more than it saves."""
    if not torch.is_grad_enabled() or not all(map(is_plain_linear, matrices)):
        return [matrix(rows) for matrix in matrices]
    weights, biases = [one.weight for one in matrices], [one.bias for one in matrices]
    bias = None if any(one is None for one in biases) else torch.cat(biases)
    return functional.linear(rows, torch.cat(weights), bias).split([len(one) for one in weights], dim=-1)


def is_plain_linear(module: nn.Module) -> bool:
    """Whether calling it is nothing but a product with its weights: no parametrization, no hook."""
    return type(module) is nn.Linear and not module._forward_hooks and not module._forward_pre_hooks
