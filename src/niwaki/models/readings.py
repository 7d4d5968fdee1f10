"""What heads read of the encoder: several heads on one encoder share one pass, and a cache can store what they read.

first     the last row of the first token, (1, hidden), computed for this token alone
tokens    the last rows of all tokens, (tokens, hidden)
layers    the rows of all tokens at every depth, (depths, tokens, hidden)
others    modes of `models/pooling.py`, (1, hidden)

All functions take one sequence. They compute what `forward.run` computes for it alone, to the bit.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from niwaki.models.forward import embedded, run_layers, with_final_norm
from niwaki.models.layout import Layout, Packed
from niwaki.models.pooling import pool
from niwaki.models.position_bias import set_position_bias
from niwaki.models.record import HIDDEN, Record
from niwaki.models.recorded import Recorded

if TYPE_CHECKING:
    from niwaki.models.anatomy import Anatomy

FIRST, TOKENS, LAYERS = "first", "tokens", "layers"


def reading_of(anatomy: "Anatomy") -> str | None:
    """What the head reads; None if it cannot be separated from its encoder."""
    head = anatomy.head
    if not anatomy.layers or anatomy.is_seq2seq or head.splits_pairs or head.pretrains:
        return None
    if head.mixes:
        return LAYERS
    if head.per_token:
        return TOKENS
    return head.pooling if head.pools else FIRST


def encode(anatomy: "Anatomy", inputs: Mapping[str, Tensor], readings: Collection[str]) -> dict[str, Tensor]:
    """All these readings of one sequence (1, tokens), in one pass. The last layer runs twice where one head reads the first token and
    others read more, because its products with one row have other bits than those with many."""
    hidden, mask, types = embedded(anatomy, inputs)
    layout: Layout = Packed(mask, anatomy.is_causal)
    layout.types = types
    set_position_bias(anatomy, hidden, layout)
    record: Record = {HIDDEN: [hidden]} if LAYERS in readings else {}
    layers = [anatomy.layers[number] for number in anatomy.order]
    before, layout = run_layers(layers[:-1], layout.pack(hidden), layout, True, record)
    found: dict[str, Tensor] = {}
    if FIRST in readings:
        first, _ = run_layers(layers[-1:], before, layout, False, {})
        found[FIRST] = with_final_norm(anatomy, first, layout, {})
    if others := set(readings) - {FIRST}:
        last, layout = run_layers(layers[-1:], before, layout, True, record)
        rows = with_final_norm(anatomy, last, layout, record)
        found |= {name: _reading(name, rows, layout, record) for name in others}
    return found


def _reading(name: str, rows: Tensor, layout: Layout, record: Record) -> Tensor:
    if name == LAYERS:
        return torch.cat(list(Recorded(record[HIDDEN])))
    return rows if name == TOKENS else pool(layout.unpack(rows), layout.mask, name)


def head_logits(anatomy: "Anatomy", found: Tensor) -> Tensor:
    """What the head makes of its reading: (1, labels), or (tokens, labels). A prompt's tokens get no logits."""
    head = anatomy.head
    if head.mixes:
        mixed = head.mix([states[None] for states in found])
        mask = torch.ones(mixed.shape[:2], dtype=torch.long)
        found = mixed[0] if head.per_token else head.pool(mixed, mask) if head.pools else mixed[:, 0]
    if head.per_token:
        logits: Tensor = head.forward(found)
        return logits[anatomy.inputs.prompt_tokens :]
    return head.forward(found[None])


def logits_of_final(anatomy: "Anatomy", hidden: Tensor, mask: Tensor) -> Tensor:
    """What a head without `mix` makes of the last hidden states (batch, tokens, hidden) of several sequences."""
    head = anatomy.head
    if head.per_token:
        return head.forward(hidden)
    pooled = head.pool(hidden, mask) if head.pools else hidden[:, 0]
    return head.forward(pooled[:, None])
