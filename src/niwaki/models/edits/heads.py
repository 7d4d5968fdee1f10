"""Keeps some attention heads of each layer."""

import torch
from torch import nn

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, check_shared_alike, per_layer
from niwaki.models.layer import Layer
from niwaki.models.module_paths import SharedReplacement
from niwaki.models.sizes import update_heads
from niwaki.models.slicing import cut_linear


class Heads(Edit):
    keep: list[list[int] | int]  # per attention: the heads, or how many of the first

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers("heads")
        kept = per_layer(self.keep, [layer.heads for layer in anatomy.attentions], "heads")
        kept = [sorted(heads) for heads in kept]  # their order means nothing
        check_shared_alike(
            "heads",
            ((f"layer {number}", anatomy.attentions[number].part("query"), keep) for number, keep in enumerate(kept)),
        )
        once = SharedReplacement()
        for layer, heads in zip(anatomy.attentions, kept, strict=True):
            record_heads(layer, heads)
            cut_heads(layer, heads, once)
        update_heads(anatomy)


def cut_heads(layer: Layer, heads: list[int], once: SharedReplacement) -> None:
    width = layer.head_size
    rows = [head * width + k for head in heads for k in range(width)]
    for part in ("query", "key", "value"):
        layer.replace(part, once(layer.part(part), lambda old: cut_linear(old, outputs=rows)))
    layer.replace("out", once(layer.part("out"), lambda old: cut_linear(old, inputs=rows)))
    module = layer.part("attention_module")
    for name, value in (("num_attention_heads", len(heads)), ("n_heads", len(heads)), ("all_head_size", len(rows))):
        if hasattr(module, name):
            setattr(module, name, value)


def record_heads(layer: Layer, heads: list[int]) -> None:
    """A bias given per original head (MPNet) must be read at the heads that are left, in this layer."""
    module = layer.part("attention_module")
    before = getattr(module, "kept_heads", None)
    kept = torch.tensor([before[head] for head in heads] if before is not None else heads)
    if before is None:
        module.register_forward_pre_hook(_pick_bias, with_kwargs=True)
    module.kept_heads = kept


def _pick_bias(module: nn.Module, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    kept = module.kept_heads
    if len(args) > 2 and args[2] is not None:
        args = (*args[:2], args[2][:, kept], *args[3:])
    if kwargs.get("position_bias") is not None:
        kwargs = {**kwargs, "position_bias": kwargs["position_bias"][:, kept]}
    return args, kwargs
