"""Sizes of a network and its config: what the config says of them, kept true when a network is cut."""

from math import gcd

from torch import nn

from niwaki.core.json_types import Json
from niwaki.models.anatomy import Anatomy
from niwaki.models.layer import Layer, reduction_of


def config_sizes(anatomy: Anatomy, depth: int, hidden_size: int, heads: int, ffn_size: int) -> Json:
    """The config's keys for a stock network of these sizes. A decoder keeps its depth."""
    keys, decoder = anatomy.family.keys, anatomy.decoder
    own: Json = {keys.depth: depth, keys.hidden_size: hidden_size, keys.heads: heads, keys.ffn_size: ffn_size}
    types = getattr(anatomy.network.config, "layer_types", None)  # of networks whose layers differ
    own |= {"layer_types": [types[number % len(types)] for number in range(depth)]} if types else {}
    own |= dict.fromkeys(keys.also_hidden_size, hidden_size)
    if keys.key_heads:  # as many heads for each key as before, where the heads can be divided so
        config = anatomy.network.config
        each = getattr(config, keys.heads) // getattr(config, keys.key_heads)
        own |= {keys.key_heads: heads // gcd(heads, each), keys.head_size: hidden_size // heads}
    if decoder is not None and decoder.has_own_layers:
        own |= {decoder.paths.heads_key: heads, decoder.paths.ffn_size_key: ffn_size}
    return own


def update_ffn_size(anatomy: Anatomy) -> None:
    """Writes the numbers of neurons into the config where it can state them: all blocks of a key alike."""
    counts: dict[str, set[int]] = {}
    for block in anatomy.blocks:
        counts.setdefault(block.key, set()).add(block.ffn_size)
    for key, found in counts.items():
        if key and len(found) == 1:
            setattr(anatomy.network.config, key, found.pop())


def update_heads(anatomy: Anatomy) -> None:
    """The same of the numbers of heads, where they are as wide as a config assumes. A table of relative positions keeps a
    column for each head that there was, so no config states fewer."""
    keys, decoder = anatomy.family.keys, anatomy.decoder
    layers: dict[str, list[Layer]] = {keys.heads: anatomy.layers}
    if decoder is not None and decoder.has_own_layers:
        own = [layer for whole in decoder.layers for layer in whole]
        layers[decoder.paths.heads_key] = layers.get(decoder.paths.heads_key, []) + own
    if anatomy.family.relative is not None:
        del layers[keys.heads]
    for key, some in layers.items():
        counts = {layer.heads for layer in some}
        if len(counts) == 1 and some[0].head_size * max(counts) == anatomy.hidden_size:
            setattr(anatomy.network.config, key, counts.pop())
            shared = {tuple(layer.mixer.key_heads or ()) for layer in some} - {()}
            if keys.key_heads:
                used = max(shared.pop()) + 1 if len(shared) == 1 else some[0].heads
                setattr(anatomy.network.config, keys.key_heads, used)


def constants(anatomy: Anatomy) -> list[object]:
    """What a config decides and no tensor shows: two networks of the same tensors are the same only if these are."""
    own = [] if anatomy.decoder is None else anatomy.decoder.constants
    return [*((layer.mixer.constants, reduction_of(layer) is None) for layer in anatomy.every_layer), *own]


def keep_layers(anatomy: Anatomy, keep: list[int]) -> None:
    """These of the distinct layers stay, in this order."""
    modules = [layer.module for layer in anatomy.layers]
    anatomy.trunk.set_submodule(anatomy.family.layer_list, nn.ModuleList([modules[number] for number in keep]))
    if anatomy.family.relative is not None:
        anatomy.family.relative.move(modules[0], modules[keep[0]])


def decoder_depth(anatomy: Anatomy) -> int:
    """Layers that generate; 0 where none do."""
    return 0 if anatomy.decoder is None else len(anatomy.decoder.layers)
