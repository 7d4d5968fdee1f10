"""A product of two thin matrices, added to the output of a frozen matrix (LoRA)."""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.settings import Settings, setting
from niwaki.models.deltas._delta import Delta
from niwaki.models.packed.factored import linear_of
from niwaki.models.slicing import cut_linear


class LoraSettings(Settings):
    rank: int = setting(8, "columns of the first and rows of the second thin matrix", ge=1)
    alpha: float = setting(16.0, "the product is multiplied by alpha / rank", gt=0)
    dropout: float = setting(0.0, "share of the inputs of the product that are dropped while training", ge=0, lt=1)


class Lora(Delta):
    """x → base(x) + α/r · up(down(x)). `up` starts at 0."""

    settings: ClassVar[type[Settings]] = LoraSettings
    mergeable = True
    down: nn.Module
    up: nn.Module

    def __init__(self, in_features: int, out_features: int, settings: LoraSettings) -> None:
        super().__init__()
        if settings.rank > min(in_features, out_features):
            raise InputError(
                f"lora: rank is {settings.rank}, and a matrix is {out_features} × {in_features}; choose at most {min(in_features, out_features)}"
            )
        self.scale = settings.alpha / settings.rank
        self.drop = nn.Dropout(settings.dropout)
        self.down = nn.Linear(in_features, settings.rank, bias=False)
        self.up = nn.Linear(settings.rank, out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, base: nn.Module, x: Tensor) -> Tensor:
        return base(x) + self.up(self.down(self.drop(x))) * self.scale

    def merged(self, dense: nn.Linear) -> nn.Linear:
        return linear_of(dense.weight + self.update(), dense.bias)

    def update(self) -> Tensor:
        """What is added to the weight, (out, in)."""
        with torch.no_grad():
            return self.up.get_parameter("weight") @ self.down.get_parameter("weight") * self.scale

    def cut(self, outputs: Sequence[int] | None, inputs: Sequence[int] | None) -> "Lora":
        self.down, self.up = cut_linear(self.down, inputs=inputs), cut_linear(self.up, outputs=outputs)
        return self
