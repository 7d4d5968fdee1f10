"""A factor for each output, or each input, of a frozen matrix ((IA)³)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from niwaki.core.settings import Settings, setting
from niwaki.models.deltas._delta import Delta
from niwaki.models.packed.factored import linear_of


class Ia3Settings(Settings):
    scales: Literal["outputs", "inputs"] = setting("outputs", "what is multiplied by the factors")


class Ia3(Delta):
    """x → gain · base(x), bias included, or base(gain · x). The gain starts at 1."""

    settings: ClassVar[type[Settings]] = Ia3Settings
    mergeable = True
    gain: nn.Parameter

    def __init__(self, in_features: int, out_features: int, settings: Ia3Settings) -> None:
        super().__init__()
        self.scales_inputs = settings.scales == "inputs"
        self.gain = nn.Parameter(torch.ones(in_features if self.scales_inputs else out_features))

    def forward(self, base: nn.Module, x: Tensor) -> Tensor:
        if self.scales_inputs:
            return base(x * self.gain.to(x.dtype))
        found = base(x)
        return found * self.gain.to(found.dtype)

    def merged(self, dense: nn.Linear) -> nn.Linear:
        if self.scales_inputs:
            return linear_of(dense.weight * self.gain, dense.bias)
        bias: Tensor | None = dense.bias  # a matrix may have none
        return linear_of(dense.weight * self.gain[:, None], None if bias is None else bias * self.gain)

    def cut(self, outputs: Sequence[int] | None, inputs: Sequence[int] | None) -> "Ia3":
        if (chosen := inputs if self.scales_inputs else outputs) is not None:
            self.gain = nn.Parameter(self.gain.detach()[list(chosen)].clone())
        return self
