"""Keeps some attention heads of each layer."""

from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, check_shared_alike, per_layer
from niwaki.models.grouped_heads import KEY_HEADS, key_heads_of, without_unread
from niwaki.models.head_order import forget_head_order
from niwaki.models.layer import Layer
from niwaki.models.module_paths import SharedReplacement
from niwaki.models.prefix import prefix_of, put_prefix
from niwaki.models.sizes import update_heads
from niwaki.models.slicing import cut_linear


class Heads(Edit):
    keep: list[list[int] | int]  # for each attention block, the heads or the number of first heads

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers("heads")
        remaining = per_layer(self.keep, [layer.heads for layer in anatomy.attentions], "heads")
        remaining = [sorted(heads) for heads in remaining]  # their order has no effect
        check_shared_alike(
            "heads",
            (
                (f"layer {number}", anatomy.attentions[number].part("query"), keep)
                for number, keep in enumerate(remaining)
            ),
        )
        once = SharedReplacement()
        for layer, heads in zip(anatomy.attentions, remaining, strict=True):
            record_heads(layer, heads)
            cut_heads(layer, heads, once)
        update_heads(anatomy)
        forget_head_order(network)


def cut_heads(layer: Layer, heads: list[int], once: SharedReplacement) -> None:
    width = layer.head_size
    layer.mixer.keep_heads(heads)
    module = layer.part("attention_module")
    keys, key_heads = heads, key_heads_of(module)
    if key_heads is not None:
        keys, now = without_unread(key_heads, heads)
        setattr(module, KEY_HEADS, now)
    rows, key_rows = ([head * width + k for head in some for k in range(width)] for some in (heads, keys))
    for part, kept in (("query", rows), ("key", key_rows), ("value", key_rows)):
        layer.replace(part, once(layer.part(part), partial(cut_linear, outputs=kept)))
    layer.replace("out", once(layer.part("out"), partial(cut_linear, inputs=rows)))
    if (prefix := prefix_of(layer.module)) is not None:
        put_prefix(layer.module, prefix.cut(rows))
    for name, value in (
        ("num_attention_heads", len(heads)),
        ("n_heads", len(heads)),
        ("all_head_size", len(rows)),
        ("split_size", len(rows)),
    ):
        if hasattr(module, name):
            setattr(module, name, value)


def record_heads(layer: Layer, heads: list[int]) -> None:
    """A bias with one entry per original head (MPNet) must be indexed by the remaining heads of this layer."""
    module = layer.part("attention_module")
    before = getattr(module, "remaining_heads", None)
    remaining = torch.tensor([before[head] for head in heads] if before is not None else heads)
    if before is None and not layer.mixer.relative:
        module.register_forward_pre_hook(_pick_bias, with_kwargs=True)
    module.remaining_heads = remaining


def _pick_bias(module: nn.Module, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    remaining = cast(Tensor, module.remaining_heads)
    if len(args) > 2 and isinstance(args[2], Tensor):
        args = (*args[:2], args[2][:, remaining], *args[3:])
    if kwargs.get("position_bias") is not None:
        kwargs = {**kwargs, "position_bias": kwargs["position_bias"][:, remaining]}
    return args, kwargs
