"""The forward pass and nothing else: one encoder for every family, as its anatomy describes it, for running and exporting.

Differs from the training network in what a deployed model does not need: dropout, the collecting of hidden states,
and in the last layer every row but the first token's, where that is all the head reads.
"""

import torch
from torch import Tensor, nn

from niwaki.models.anatomy import Anatomy, Layer, Network


class Lean(nn.Module):
    """Token ids, mask and types (batch, tokens) to logits (batch, labels), or (batch, tokens, labels) from heads per token."""

    def __init__(self, network: Network, anatomy: Anatomy) -> None:
        super().__init__()
        self.network = network
        self.anatomy = anatomy

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        hidden = self.anatomy.embed(ids, types)  # (batch, tokens, width)
        scores = (1.0 - mask[:, None, None, :].to(hidden.dtype)) * -1e4  # (batch, 1, 1, tokens): 0 where real
        bias = self.anatomy.position_bias(hidden)
        layers, order = self.anatomy.layers, self.anatomy.order
        for depth, number in enumerate(order):
            rows = slice(0, 1) if depth == len(order) - 1 and not self.anatomy.per_token else slice(None)
            hidden = run_layer(layers[number], hidden, _add(scores, bias, layers[number], rows), rows)
        return self.anatomy.answer(hidden)


def run_layer(layer: Layer, hidden: Tensor, scores: Tensor, rows: slice) -> Tensor:
    """One post-norm encoder layer; `rows` says which tokens' outputs are wanted."""
    wanted = hidden[:, rows]
    query, key, value = (
        _split_heads(layer.part(part)(source), layer.head_width)
        for part, source in (("query", wanted), ("key", hidden), ("value", hidden))
    )  # each (batch, heads, tokens, head width)
    weights = torch.softmax(query @ key.transpose(-1, -2) * layer.head_width**-0.5 + scores, dim=-1)
    mixed = (weights @ value).transpose(1, 2).flatten(2)  # (batch, rows, heads × head width)
    attended = layer.part("attention_norm")(layer.part("out")(mixed) + wanted)
    inner = layer.part("activation")(layer.part("ffn_in")(attended))
    return layer.part("ffn_norm")(layer.part("ffn_out")(inner) + attended)


def _split_heads(x: Tensor, head_width: int) -> Tensor:
    return x.unflatten(-1, (-1, head_width)).transpose(1, 2)


def _add(scores: Tensor, bias: Tensor | None, layer: Layer, rows: slice) -> Tensor:
    if bias is None:
        return scores
    kept = getattr(layer.attention, "kept_heads", None)
    return scores + (bias if kept is None else bias[:, kept])[:, :, rows]
