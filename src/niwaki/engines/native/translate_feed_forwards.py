"""Translates feed-forward blocks: `native` of a part names one of `FEED_FORWARDS`, which gives fields of a layer."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.engines.native import program as p
from niwaki.models.activation_functions import activation_name
from niwaki.models.layer import FEED_FORWARD, Layer

if TYPE_CHECKING:
    from niwaki.engines.native.translate import Translator


def dense(translator: "Translator", layer: Layer) -> Json:
    if layer.feed_forward.removed:
        return {"ffn_bias": translator.name_or_none(f"{translator.at(layer, 'ffn_out')}.bias")}
    up, down = (translator.linear(translator.at(layer, role)) for role in ("ffn_in", "ffn_out"))
    return {
        "ffn": p.Ffn.model_validate({"up": up, "activation": activation_of(layer.part("activation")), "down": down})
    }


def gated(translator: "Translator", layer: Layer) -> Json:
    found = dense(translator, layer)
    if "ffn" not in found:
        return found
    gate = translator.linear(translator.at(layer, "ffn_gate"))
    return {"ffn": found["ffn"].model_copy(update={"gate": gate})}


def experts(translator: "Translator", layer: Layer) -> Json:
    block, path = layer.feed_forward, f"{translator.paths[id(layer.module)]}.{FEED_FORWARD}"
    if block.by_text:
        raise InputError(
            "native engine: experts that the first token chooses for its text have no translation; use onnx"
        )
    pairs = zip(block.from_hidden, block.to_hidden, strict=True)
    every = [
        p.Expert(up=translator.linear(f"{path}.{up}"), down=translator.linear(f"{path}.{down}")) for up, down in pairs
    ]
    found = {
        "router": translator.linear(f"{path}.router"),
        "experts": every[: block.experts],
        "shared": every[block.experts] if len(every) > block.experts else None,
        "active": block.active,
        "averages": not block.is_sum,
        "activation": activation_of(block.activation),
    }
    return {"experts": p.Experts.model_validate(found)}


FEED_FORWARDS: Mapping[str, Callable[["Translator", Layer], Json]] = {
    "dense": dense,
    "gated": gated,
    "experts": experts,
}


def activation_of(module: object) -> str:
    """The kernels' name of an activation function. Rejects functions that they do not have."""
    found = activation_name(module)
    if found is None:
        raise InputError(f"native engine: it does not have the activation {type(module).__name__}")
    return found
