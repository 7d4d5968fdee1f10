"""Grouped-query attention (Ainslie et al. 2023): several heads read the keys and values of one.

`key_heads` of an attention module names for each head the one whose keys and values it reads; None where each has its own. A head can
thus be cut by itself.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from niwaki.models.family import Family, Network

KEY_HEADS = "key_heads"  # attribute of an attention


def set_key_heads(network: Network, family: type[Family]) -> None:
    """Notes at each attention which keys its heads read."""
    assert family.layer is not None
    config, keys = network.config, family.keys
    heads, key_heads = int(getattr(config, keys.heads)), int(getattr(config, keys.key_heads))
    for module in family.layers(network.get_submodule(family.body)):
        attention = module.get_submodule(family.layer.attention_module)
        shared = None if heads == key_heads else [head * key_heads // heads for head in range(heads)]
        setattr(attention, KEY_HEADS, shared)


def key_heads_of(attention: nn.Module) -> list[int] | None:
    return getattr(attention, KEY_HEADS, None)


def of_each_head(rows: Tensor, key_heads: Sequence[int] | None, head_size: int) -> Tensor:
    """Keys or values (…, key heads × head size) to (…, heads × head size)."""
    if key_heads is None:
        return rows
    each = rows.split(head_size, dim=-1)  # no reshape: exported graphs would fix the number of rows
    return torch.cat([each[key] for key in key_heads], dim=-1)


def without_unread(key_heads: Sequence[int], heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """For the heads that stay: the keys that are still read, and which of these each head reads."""
    read = sorted({key_heads[head] for head in heads})
    return read, [read.index(key_heads[head]) for head in heads]
