"""Limits attention to a window around each token and to the first tokens, so that time and memory grow linearly with the text.

Layers may differ: name the method once for each kind of window with its `layers`, and `global_every` leaves the attention of some layers as it is (ModernBERT).
The matrices of the attention stay as they are. A window that reaches over the whole text changes nothing; a smaller one should be followed by training or distillation.
Paper: Beltagy, Peters, Cohan 2020, Longformer: The Long-Document Transformer (arXiv 2004.05150).
Cost: none. Texts of a few windows become slower, long ones faster; `niwaki bench` shows where.
"""

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.convert._attention_layers import attention_layers, replace_attention, require_plain_attention
from niwaki.models.layer import Layer, configured_dropout
from niwaki.models.model import Model


class Window(Method, Reshapes):
    window: int = setting(64, "tokens on each side that a token attends to", ge=1, le=65_536)
    dilation: int = setting(
        1, "2 attends to every second token only, so that the same window reaches twice as far", ge=1, le=1024
    )
    global_tokens: int = setting(1, "first tokens of a text that attend to all, and all to them", ge=0, le=1024)
    layers: list[int] = setting([], "layers to convert; none converts all")
    global_every: int = setting(
        0, "every so many layers, beginning with the first, one keeps its attention; 0 converts all", ge=0
    )

    requires = Requirements()

    def dry_prepare(self, model: Model) -> Model:
        model.anatomy.require_layers("window")
        for number, layer in attention_layers(model, self._numbers(len(model.anatomy.layers)), "window").items():
            self._convert(model, number, layer)
        return model

    def _numbers(self, count: int) -> list[int]:
        """Of the layers to convert."""
        if not self.global_every:
            return self.layers or list(range(count))
        if self.layers:
            raise InputError("window: layers and global_every choose layers both; name one of them")
        found = [number for number in range(count) if number % self.global_every]
        if not found:
            raise InputError(f"window: global_every = {self.global_every} converts no layer of {count}; use 2 or more")
        return found

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)

    def _convert(self, model: Model, number: int, layer: Layer) -> None:
        require_plain_attention("window", number, layer)
        if model.anatomy.family.relative is not None and hasattr(layer.part("attention_module"), "remaining_heads"):
            raise InputError(
                "window: heads of this family with relative positions were pruned; name 'window' before 'heads'"
            )
        settings = {
            **self.model_dump(include={"window", "dilation", "global_tokens"}),
            "dropout": configured_dropout(layer, "attention_dropout"),
        }
        replace_attention(model, number, "window", settings)
