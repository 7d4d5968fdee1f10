"""Parametrizations of a matrix while it is trained, such as a mask or a rounding. They are merged before saving.

A parametrization is a module from the stored weight to the weight that is multiplied. Its state is in its parameters, which are
trained with the rest, and its buffers; checkpoints contain both.
"""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from torch import nn
from torch.nn.utils import parametrize

from niwaki.models.module_paths import replace_modules
from niwaki.models.packed.factored import linear_of

Parametrization = TypeVar("Parametrization", bound=nn.Module)


def add_parametrization(module: nn.Module, parametrization: nn.Module) -> None:
    """Add it to a matrix or table of floats, after the parametrizations that it already has."""
    parametrize.register_parametrization(module, "weight", parametrization, unsafe=True)


def find_parametrizations(
    network: nn.Module, paths: Iterable[str], kind: type[Parametrization]
) -> Iterator[tuple[str, Any, Parametrization]]:
    """Path, module and parametrization of a type, for each module that has one."""
    for path in paths:
        module: Any = network.get_submodule(path)
        if parametrize.is_parametrized(module, "weight"):
            for parametrization in module.parametrizations.weight:
                if isinstance(parametrization, kind):
                    yield path, module, parametrization


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
