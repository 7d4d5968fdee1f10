"""Limits attention to a window around each token and to the first tokens, so that time and memory grow linearly with the text.

The matrices of the attention stay as they are. A window that reaches over the whole text changes nothing; a smaller one should be followed by training or distillation.
Paper: Beltagy, Peters, Cohan 2020, Longformer: The Long-Document Transformer (arXiv 2004.05150).
Cost: none. Texts of a few windows become slower, long ones faster; `niwaki bench` shows where.
"""

import torch

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.convert._attention_layers import MATRICES, attention_layers, dense
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.layer import Layer, configured_dropout
from niwaki.models.model import Model
from niwaki.models.prefix import prefix_of


class Window(Method, Reshapes):
    window: int = setting(64, "tokens on each side that a token attends to", ge=1, le=65_536)
    global_tokens: int = setting(1, "first tokens of a text that attend to all, and all to them", ge=0, le=1024)
    layers: list[int] = setting([], "layers to convert; none converts all")

    requires = Requirements()

    def dry_prepare(self, model: Model) -> Model:
        model.anatomy.require_layers("window")
        every = len(model.anatomy.layers)
        for number, layer in attention_layers(model, self.layers or every, "window").items():
            self._convert(model, number, layer)
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)

    def _convert(self, model: Model, number: int, layer: Layer) -> None:
        if layer.mixer.label() != "attention" or prefix_of(layer.module) is not None:
            raise InputError(
                f"window: layer {number} has a prefix, or attention with positions of its own ('{layer.mixer.label()}'); only plain attention is converted"
            )
        relative = model.anatomy.family.relative is not None
        if relative and hasattr(layer.part("attention_module"), "remaining_heads"):
            raise InputError(
                "window: heads of this family with relative positions were pruned; name 'window' before 'heads'"
            )
        matrices = [dense(layer.part(role)) for role in MATRICES]
        settings = {
            **self.model_dump(include={"window", "global_tokens"}),
            "attention_heads": layer.heads,
            "attention_head_size": layer.head_size,
            "scaled": layer.paths.scaled,
            "dropout": configured_dropout(layer, "attention_dropout"),
        }
        model.apply_edit(ReplacePart(slot="mixer", part="window", layers=[number], settings=settings))
        converted = model.anatomy.layers[number].mixer
        for role, before in zip(MATRICES, matrices, strict=True):
            copy_matrix(before, getattr(converted, role))


@torch.no_grad()
def copy_matrix(before: torch.nn.Linear, after: torch.nn.Linear) -> None:
    after.weight.copy_(before.weight)
    if before.bias is None:
        after.bias.zero_()
    else:
        after.bias.copy_(before.bias)
