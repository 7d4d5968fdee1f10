"""What the methods share that shorten texts between layers."""

from collections.abc import Mapping, Sequence

from niwaki.core.errors import InputError
from niwaki.models.edits.replace_part import ReplacePart, Value
from niwaki.models.layer import Layer
from niwaki.models.model import Model


def shortening_layers(model: Model, what: str) -> list[Layer]:
    """The distinct layers of an encoder whose texts may become shorter; rejects models that need every token."""
    anatomy = model.anatomy
    anatomy.require_layers(what)
    if anatomy.is_seq2seq or anatomy.is_causal:
        raise InputError(f"{what}: a model that generates text needs every token; leave '{what}' out")
    head = anatomy.head
    if head.per_token or head.mixes or len(head.outputs) > 1:
        raise InputError(f"{what}: this model answers for every token, so all of them must stay; leave '{what}' out")
    if getattr(model.network.config, "niwaki_exits", None):
        raise InputError(f"{what}: early exits need every token behind each of them; leave '{what}' or 'exits' out")
    layers = anatomy.layers
    for number, layer in enumerate(layers):
        mixer = layer.mixer
        if mixer.relative or mixer.window or mixer.label() == "rotary" or anatomy.family.relative is not None:
            raise InputError(
                f"{what}: layer {number} counts the distance between tokens ('{mixer.label()}'), which shorter texts change; take a model with absolute positions"
            )
    return layers


def put_reduction(model: Model, numbers: Sequence[int], part: str, settings: Mapping[str, Value]) -> None:
    """Puts a reduction into layers."""
    model.apply_edit(ReplacePart(slot="reduction", part=part, layers=[*numbers], settings=dict(settings)))
