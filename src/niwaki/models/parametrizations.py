"""Lenses: what a matrix is seen through while it is trained, such as a mask or a rounding. Gone from what is saved.

A lens is a module from the weight to the weight that the product uses. What it must remember lies in its parameters, which
are trained with the rest, and its buffers: training states keep both.
"""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from torch import nn
from torch.nn.utils import parametrize

from niwaki.models.module_paths import replace_modules
from niwaki.models.packed.factored import linear_of

Parametrization = TypeVar("Parametrization", bound=nn.Module)


def add_parametrization(module: nn.Module, lens: nn.Module) -> None:
    """Before a matrix or table with plain floats; over the lenses that it has already."""
    parametrize.register_parametrization(module, "weight", lens, unsafe=True)


def find_parametrizations(
    network: nn.Module, paths: Iterable[str], kind: type[Parametrization]
) -> Iterator[tuple[str, Any, Parametrization]]:
    """Path, module and its lens of the kind, where it has one."""
    for path in paths:
        module: Any = network.get_submodule(path)
        if parametrize.is_parametrized(module, "weight"):
            for lens in module.parametrizations.weight:
                if isinstance(lens, kind):
                    yield path, module, lens


def original_weight(module: Any) -> Any:
    """The weight behind the lenses."""
    return module.parametrizations.weight.original if parametrize.is_parametrized(module, "weight") else module.weight


def merged(module: Any) -> nn.Module:
    """A plain matrix or table with the weight as it is seen."""
    if not parametrize.is_parametrized(module, "weight"):
        return module
    if isinstance(module, nn.Embedding):
        return nn.Embedding.from_pretrained(module.weight.detach().clone(), freeze=False)
    return linear_of(module.weight, module.bias)


def merge_parametrizations(network: nn.Module, paths: Iterable[str]) -> None:
    """Takes the lenses off; what was seen through them is what is left."""
    replace_modules(network, paths, merged)
