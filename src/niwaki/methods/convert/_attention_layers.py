"""The layers whose attention a conversion replaces, and their matrices."""

from collections.abc import Sequence

from torch import nn

from niwaki.core.errors import InputError
from niwaki.models.edit import resolve_indices
from niwaki.models.layer import Layer
from niwaki.models.model import Model
from niwaki.models.packed.removed import Removed

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
