"""Gates with random values, for tests of methods that learn them."""

import torch

from niwaki.methods._method import Context
from niwaki.methods.prune._gates import (
    Gate,
)

CONTEXT = Context(0, None, None, None, None, None, None)


def set_gates(model, seed: int = 0) -> None:
    """Some open, some closed, some in between."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for gate in (module for module in model.network.modules() if isinstance(module, Gate)):
            gate.alpha.copy_((8 * torch.rand(gate.alpha.shape, generator=generator) - 5) / gate.speed)


def numbers(model) -> int:
    return sum(model.network.get_submodule(path).weight.numel() for path in set(model.anatomy.matrices()))
