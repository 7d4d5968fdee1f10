"""A small feed-forward block with a bottleneck behind a frozen matrix, with a residual connection around it."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from niwaki.core.settings import Settings, setting
from niwaki.models.deltas._delta import Delta
from niwaki.models.slicing import cut_linear

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": torch.relu, "gelu": functional.gelu, "tanh": torch.tanh}
Activation = Literal["relu", "gelu", "tanh"]


class AdapterSettings(Settings):
    reduction: float = setting(16.0, "outputs of the matrix divided by the size of the bottleneck", ge=1)
    activation: Activation = setting("gelu", "between the two matrices")


class Adapter(Delta):
    """x → y + up(activation(down(y))) with y = base(x). `up` starts at 0."""

    settings: ClassVar[type[Settings]] = AdapterSettings
    down: nn.Module
    up: nn.Module

    def __init__(self, in_features: int, out_features: int, settings: AdapterSettings) -> None:
        super().__init__()
        size = max(1, round(out_features / settings.reduction))
        self.activation = ACTIVATIONS[settings.activation]
        self.down, self.up = nn.Linear(out_features, size), nn.Linear(size, out_features)
        nn.init.zeros_(self.down.bias)
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, base: nn.Module, x: Tensor) -> Tensor:
        found = base(x)
        return found + self.change(found)

    def change(self, found: Tensor) -> Tensor:
        """What the bottleneck adds to outputs (…, out)."""
        return self.up(self.activation(self.down(found)))

    def cut(self, outputs: Sequence[int] | None, inputs: Sequence[int] | None) -> "Adapter":
        self.down, self.up = cut_linear(self.down, inputs=outputs), cut_linear(self.up, outputs=outputs)
        return self
