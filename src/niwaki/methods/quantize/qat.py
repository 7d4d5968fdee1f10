"""Training that sees the weights and activations as they will be packed: in 8, 4, 3 or 2 bits.

The products see rounded numbers, the gradient moves the floats behind them as if nothing were rounded. Below 8 bits the scales
of the groups follow the weights, one step of least squares after each step of training. Put 'logits' or 'tinybert' beside it
below 4 bits. An LSTM's matrices are trained in float and get 8 bits when the stage ends.

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
from niwaki.models.packed.low_bit import best_scale, by_group, kept, refined
from niwaki.models.packed.rounding import in_eight_bits, straight
from niwaki.models.parametrizations import find_parametrizations


class Qat(TrainedRounding, Schedules):
    bits: Literal[8, 4, 3, 2] = setting(8, "of a weight")
    group: int = setting(64, "below 8 bits: neighbours in a row that share a scale; 0 is the whole row", ge=0)
    activations: bool = setting(True, "round the matrices' inputs to 8 bits too, by batches, as the engine does")

    def lens(self, weight: Tensor) -> nn.Module:
        return Int8Rounding(weight) if self.bits == 8 else TrackedRounding(weight, BASE[self.bits], self.group)

    def edit(self) -> LowBit:
        return LowBit(base=BASE[self.bits], group=self.group, table=self.embeddings, small_weights=True)

    def prepare(self, model: Model, context: Context) -> Model:
        model = super().prepare(model, context)
        for module in self.matrices(model) if self.activations else ():
            if isinstance(module, nn.Linear):  # the hook goes with the module when the lens is taken off
                module.register_forward_pre_hook(lambda _, args: (in_eight_bits(args[0]), *args[1:]))
        return model

    @torch.no_grad()
    def after_step(self, model: Model, progress: float) -> None:
        for _, module, lens in find_parametrizations(
            model.network, trainable(self.label(), model, self.embeddings), TrackedRounding
        ):
            lens.follow(parametrized_input(module, lens))

    def finish(self, model: Model) -> Model:
        if self.bits < 8:
            return super().finish(model)
        replace_modules(model.network, places(model, self.embeddings), unrounded)  # in every place of a shared one
        model.apply_edit(Int8(embeddings=self.embeddings, small_weights=True))
        return model


class Int8Rounding(nn.Module):
    """A lens: the weight as 8-bit integers with a scale for each row."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()

    def forward(self, weight: Tensor) -> Tensor:
        codes, scale = quantize_rows(weight)
        return straight(weight, codes * scale[:, None])


class TrackedRounding(Rounding):
    """A lens whose scales are remembered, and moved with the weights after each step: to look for the best anew takes long."""

    step: Tensor

    def __init__(self, weight: Tensor, base: int, group: int) -> None:
        super().__init__(weight, base, group)
        self.register_buffer("step", kept(by_group(partial(best_scale, base=base), self.group, weight)))

    def scale(self, weight: Tensor) -> Tensor:
        return self.step

    def follow(self, weight: Tensor) -> None:
        self.step.copy_(kept(by_group(partial(refined, base=self.base), self.group, weight, self.step)))


def unrounded(module: Any) -> nn.Module:
    """Without its lens of 8 bits: what is behind packs to just the numbers that were seen."""
    found = [lens for _, _, lens in find_parametrizations(nn.ModuleDict({"one": module}), ["one"], Int8Rounding)]
    if not found:
        return module
    weight = parametrized_input(module, found[0])
    if isinstance(module, nn.Embedding):
        return nn.Embedding.from_pretrained(weight.clone(), freeze=False)
    return linear_of(weight, module.bias)
