"""Quantization-aware training: the forward pass sees weights and activations as they will be packed, in 8, 4, 3 or 2 bits.

The gradient updates the floats behind them as if nothing were rounded. Below 8 bits the scales of the groups follow the weights, by
one least-squares step after each training step. Below 4 bits, combine it with 'logits' or 'tinybert'. LSTM matrices are trained in
float and get 8 bits when the stage ends.

Paper: Jacob et al. 2018, Integer-Arithmetic-Only Inference (arXiv 1712.05877); Zafrir et al. 2019, Q8BERT (arXiv 1910.06188).
Cost: training; a step of 32 short texts takes 1.4 times as long as in float, 1.6 below 8 bits (MiniLM, one core).
"""

from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Schedules
from niwaki.methods.quantize._rounding import BASE, Rounding, TrainedRounding, parametrized_input, places, trainable
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.model import Model
from niwaki.models.module_paths import replace_modules
from niwaki.models.packed.factored import linear_of
from niwaki.models.packed.int8 import quantize_rows
from niwaki.models.packed.low_bit import as_float16, best_scale, by_group, refined
from niwaki.models.packed.rounding import in_eight_bits, straight
from niwaki.models.parametrizations import find_parametrizations


class Qat(TrainedRounding, Schedules):
    bits: Literal[8, 4, 3, 2] = setting(8, "bits per weight")
    group: int = setting(64, "below 8 bits: neighbours in a row that share a scale; 0 is the whole row", ge=0)
    activations: bool = setting(True, "round the matrices' inputs to 8 bits too, per batch, as the engine does")

    def rounding(self, weight: Tensor) -> nn.Module:
        return Int8Rounding(weight) if self.bits == 8 else TrackedRounding(weight, BASE[self.bits], self.group)

    def edit(self) -> LowBit:
        return LowBit(base=BASE[self.bits], group=self.group, table=self.embeddings, small_weights=True)

    def prepare(self, model: Model, context: Context) -> Model:
        model = super().prepare(model, context)
        for module in self.matrices(model) if self.activations else ():
            if isinstance(module, nn.Linear):  # the hook disappears with the module when the rounding is merged
                module.register_forward_pre_hook(lambda _, args: (in_eight_bits(args[0]), *args[1:]))
        return model

    @torch.no_grad()
    def after_step(self, model: Model, progress: float) -> None:
        for _, module, rounding in find_parametrizations(
            model.network, trainable(self.label(), model, self.embeddings), TrackedRounding
        ):
            rounding.follow(parametrized_input(module, rounding))

    def finish(self, model: Model) -> Model:
        if self.bits < 8:
            return super().finish(model)
        replace_modules(model.network, places(model, self.embeddings), unrounded)  # in every place of a shared matrix
        model.apply_edit(Int8(embeddings=self.embeddings, small_weights=True))
        return model


class Int8Rounding(nn.Module):
    """A parametrization that rounds a weight to 8-bit integers with a scale for each row."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()

    def forward(self, weight: Tensor) -> Tensor:
        codes, scale = quantize_rows(weight)
        return straight(weight, codes * scale[:, None])


class TrackedRounding(Rounding):
    """A rounding with stored scales, updated after each step: searching for the best scales every time is slow."""

    step: Tensor

    def __init__(self, weight: Tensor, base: int, group: int) -> None:
        super().__init__(weight, base, group)
        self.register_buffer("step", as_float16(by_group(partial(best_scale, base=base), self.group, weight)))

    def scale(self, weight: Tensor) -> Tensor:
        return self.step

    def follow(self, weight: Tensor) -> None:
        self.step.copy_(as_float16(by_group(partial(refined, base=self.base), self.group, weight, self.step)))


def unrounded(module: Any) -> nn.Module:
    """The module without its 8-bit rounding: the weight behind it packs to exactly the rounded values."""
    found = [
        rounding
        for _, _, rounding in find_parametrizations(nn.ModuleDict({"module": module}), ["module"], Int8Rounding)
    ]
    if not found:
        return module
    weight = parametrized_input(module, found[0])
    if isinstance(module, nn.Embedding):
        return nn.Embedding.from_pretrained(weight.clone(), freeze=False)
    return linear_of(weight, module.bias)
