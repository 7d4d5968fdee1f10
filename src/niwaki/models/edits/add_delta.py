"""Puts deltas around matrices: LoRA, (IA)³, adapters."""

from collections.abc import Callable
from functools import partial
from typing import cast

import torch
from pydantic import Field
from torch import nn

from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.core.settings import check
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.deltas._delta import DELTAS, Delta, Tuned
from niwaki.models.edit import Edit
from niwaki.models.layer import Layer
from niwaki.models.module_paths import SharedReplacement
from niwaki.models.packed.removed import Removed

Value = bool | int | float | str


class AddDelta(Edit):
    """In all layers of encoder and decoder. Layers that share a matrix share its delta."""

    kind: str  # name in models/deltas
    targets: list[str] = Field(max_length=64)  # roles of matrices
    settings: dict[str, Value] = Field(default_factory=dict)  # of the delta
    seed: int = 0

    def for_blueprint(self) -> "AddDelta":
        return self.model_copy(update={"seed": 0})

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers(self.kind)
        kind = cast(Callable[..., Delta], DELTAS.load(self.kind, Delta))
        settings = check(DELTAS.load(self.kind, Delta).settings, dict(self.settings), self.kind)
        known = roles(anatomy)
        if unknown := [role for role in self.targets if role not in known]:
            raise InputError(f"{self.kind}: there is no matrix '{unknown[0][:40]}'; this model has {', '.join(known)}")
        once = SharedReplacement()
        for number, layer in enumerate(anatomy.every_layer):
            for role in self.targets:
                if is_matrix(layer, role):
                    seed = derive(self.seed, f"{self.kind} {number} {role}")
                    layer.replace(role, once(layer.part(role), partial(_tuned, kind, settings, seed)))


def roles(anatomy: Anatomy) -> list[str]:
    """All roles of matrices in the layers."""
    found = (role for layer in anatomy.every_layer for role in layer.matrices() if is_matrix(layer, role))
    return list(dict.fromkeys(found))


def is_matrix(layer: Layer, role: str) -> bool:
    return role in layer.matrices() and not isinstance(layer.part(role), Removed)


def _tuned(kind: Callable[..., Delta], settings: object, seed: int, module: nn.Linear) -> Tuned:
    """On the device of the matrix; a skeleton's takes no memory."""
    device = next((value.device for value in module.state_dict().values()), None)
    with torch.random.fork_rng(devices=[]), torch.device(device or "cpu"):
        torch.manual_seed(seed)
        delta = kind(module.in_features, module.out_features, settings)
    return Tuned(module, delta).train(module.training)
