"""The lean forward pass over the tokens that are there: texts lie one behind the other, and attention goes text by text.

Everything but attention works row by row, so that padding would only be multiplied to be thrown away.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.layer import Layer, add_bias, around


class Unpadded(nn.Module):
    """Token ids, mask and types (batch, tokens) to logits (batch, labels), or from heads per token to (their tokens, one behind the
    other, labels). For networks with attention layers."""

    def __init__(self, network: Network, anatomy: Anatomy) -> None:
        super().__init__()
        self.network = network
        self.anatomy = anatomy

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        anatomy = self.anatomy
        there = mask.bool()
        lengths = there.sum(dim=1).tolist()
        padded = anatomy.embed(ids, types)  # (batch, tokens, width): positions are counted there
        bias, hidden = anatomy.position_bias(padded), padded[there]  # (all tokens, width)
        first = torch.tensor([0, *lengths[:-1]]).cumsum(0)
        layers, order = anatomy.layers, anatomy.order
        for depth, number in enumerate(order):
            one = depth == len(order) - 1 and not anatomy.per_token  # the first token's row is all that the head reads
            hidden = run_apart(layers[number], hidden, lengths, bias, first if one else None)
        return anatomy.answer(hidden if anatomy.per_token else hidden[:, None])


def run_apart(layer: Layer, hidden: Tensor, lengths: list[int], bias: Tensor | None, first: Tensor | None) -> Tensor:
    """One layer over texts that lie one behind the other, (all tokens, width); with `first`, for these rows alone, one of each text."""
    wanted = hidden if first is None else hidden[first]

    def mixed() -> Tensor:
        counts = lengths if first is None else [1] * len(lengths)
        query, key, value = (
            layer.part(part)(source).unflatten(-1, (-1, layer.head_width)).transpose(0, 1).split(sizes, dim=1)
            for part, source, sizes in (("query", wanted, counts), ("key", hidden, lengths), ("value", hidden, lengths))
        )  # each a text's (heads, tokens, head width)
        parts = [
            functional.scaled_dot_product_attention(
                q[None], k[None], v[None], _bias(layer, bias, q.shape[1], k.shape[1])
            )
            for q, k, v in zip(query, key, value, strict=True)
        ]
        return torch.cat(parts, dim=2)[0].transpose(0, 1).flatten(1)  # (rows, heads × head width)

    return around(layer, wanted, mixed)


def _bias(layer: Layer, bias: Tensor | None, queries: int, keys: int) -> Tensor | None:
    """What the family adds to the scores of one text, or None."""
    if bias is None:
        return None
    return add_bias(bias.new_zeros(()), bias[..., :keys], layer, slice(0, queries))
