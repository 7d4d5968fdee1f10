"""The layers whose attention a conversion replaces, and their matrices."""

from collections.abc import Mapping, Sequence

import torch
from torch import nn

from niwaki.core.errors import InputError
from niwaki.models.edit import resolve_indices
from niwaki.models.edits.replace_part import ReplacePart, Value
from niwaki.models.layer import Layer
from niwaki.models.model import Model
from niwaki.models.packed.removed import Removed
from niwaki.models.prefix import prefix_of

MATRICES = ("query", "key", "value", "out")


def attention_layers(model: Model, chosen: Sequence[int] | int, what: str) -> dict[int, Layer]:
    """The chosen encoder layers by number. Rejects models and layers without attention of their family."""
    anatomy = model.anatomy
    anatomy.require_layers(what)
    if anatomy.decoder is not None and not anatomy.decoder.has_own_layers:
        raise InputError(f"{what}: the encoder's layers generate here, which needs attention; leave '{what}' out")
    layers = anatomy.layers
    found = {number: layers[number] for number in resolve_indices(chosen, len(layers), f"{what}: layers")}
    for number, layer in found.items():
        if not layer.has_attention or isinstance(layer.part("out"), Removed):
            raise InputError(f"{what}: layer {number} has no attention; name other layers")
    return found


def dense(module: nn.Module) -> nn.Linear:
    """A matrix as floats, however it is stored."""
    return module if isinstance(module, nn.Linear) else module.to_dense()  # type: ignore[operator]


def require_plain_attention(what: str, number: int, layer: Layer) -> None:
    """Rejects attention that has positions of its own, a prefix, or was converted before."""
    if layer.mixer.label() != "attention" or prefix_of(layer.module) is not None:
        raise InputError(
            f"{what}: layer {number} has a prefix, or attention with positions of its own ('{layer.mixer.label()}'); only plain attention is converted"
        )


def replace_attention(model: Model, number: int, part: str, settings: Mapping[str, Value]) -> None:
    """Puts a mixer with matrices of its own into a layer. It gets those of the attention before."""
    layer = model.anatomy.layers[number]
    matrices = [dense(layer.part(role)) for role in MATRICES]
    own = {
        "attention_heads": layer.heads,
        "attention_head_size": layer.head_size,
        "scaled": layer.paths.scaled,
    }
    model.apply_edit(ReplacePart(slot="mixer", part=part, layers=[number], settings={**settings, **own}))
    converted = model.anatomy.layers[number].mixer
    for role, before in zip(MATRICES, matrices, strict=True):
        copy_matrix(before, getattr(converted, role))


@torch.no_grad()
def copy_matrix(before: nn.Linear, after: nn.Linear) -> None:
    after.weight.copy_(before.weight)
    if before.bias is None:
        after.bias.zero_()
    else:
        after.bias.copy_(before.bias)
