"""Translates mixers: `native` of a part names one of `MIXERS`, which gives fields of a layer."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.engines.native import program as p
from niwaki.models.layer import Layer
from niwaki.models.rotary import frequencies, rotated

if TYPE_CHECKING:
    from niwaki.engines.native.translate import Translator

ROLES = ("query", "key", "value", "out")


def attention(translator: "Translator", layer: Layer) -> Json:
    if layer.mixer.removed:
        return {"attention_bias": translator.name_or_none(f"{translator.at(layer, 'out')}.bias")}
    if getattr(layer.mixer, "prefix", None) is not None:
        raise InputError("native engine: it reads no trained keys and values (prefix_tuning); use engine 'onnx'")
    matrices = {role: translator.linear(translator.at(layer, role)) for role in ROLES}
    return {
        "attention": p.Attention(
            heads=layer.heads,
            head_size=layer.head_size,
            relative=_relative(translator, layer),
            scale=None if layer.mixer.scale == layer.head_size**-0.5 else layer.mixer.scale,
            **matrices,
        )
    }


def rotary(translator: "Translator", layer: Layer) -> Json:
    mixer, rotation = layer.mixer, rotated(layer.part("attention_module"))
    turned = p.Rotary(frequencies=list(frequencies(rotation)), neighbours=rotation.kind == "neighbours" or None)
    near = p.Window(tokens=mixer.window - 1) if mixer.window else None  # that many tokens away is too far
    return changed(attention(translator, layer), {"rotary": turned, "key_heads": mixer.key_heads, "window": near})


def window(translator: "Translator", layer: Layer) -> Json:
    mixer = layer.mixer
    near = p.Window(tokens=mixer.window, dilation=mixer.dilation, first_tokens=mixer.global_tokens)
    return changed(attention(translator, layer), {"window": near})


MIXERS: Mapping[str, Callable[["Translator", Layer], Json]] = {
    "attention": attention,
    "rotary": rotary,
    "window": window,
}


def changed(fields: Json, update: Json) -> Json:
    """Fields of a layer with others of its attention, unless it was removed."""
    found = fields.get("attention")
    return {**fields, "attention": found.model_copy(update=update)} if found else fields


def _relative(translator: "Translator", layer: Layer) -> p.Relative | None:
    anatomy, family = translator.anatomy, translator.anatomy.family
    if family.relative is None:
        return None
    heads = remaining_heads(layer)
    return p.Relative(
        table=translator.name(f"{family.body}.{family.relative.table}.weight"),
        rows=family.relative.rows(anatomy.trunk, anatomy.max_tokens),
        heads=list(range(layer.heads)) if heads is None else [int(head) for head in heads],
    )


def remaining_heads(layer: Layer) -> list[int] | None:
    """The first heads that are left; None: all."""
    own = getattr(layer.mixer, "remaining", None)  # of a mixer that was put in
    return own if own is not None else getattr(layer.part("attention_module"), "remaining_heads", None)
