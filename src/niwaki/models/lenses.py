"""Lenses: what a matrix is seen through while it is trained, such as a mask or a rounding. Gone from what is saved.

A lens is a module from the weight to the weight that the product uses. What it must remember lies in its parameters, which
are trained with the rest, and its buffers: training states keep both.
"""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from torch import nn
from torch.nn.utils import parametrize

from niwaki.models.forms.factored import linear_of
from niwaki.models.places import exchange

Lens = TypeVar("Lens", bound=nn.Module)


def put(module: nn.Module, lens: nn.Module) -> None:
    """Before a matrix or table with plain floats; over the lenses that it has already."""
    parametrize.register_parametrization(module, "weight", lens, unsafe=True)


def lenses(network: nn.Module, paths: Iterable[str], kind: type[Lens]) -> Iterator[tuple[str, Any, Lens]]:
    """Path, module and its lens of the kind, where it has one."""
    for path in paths:
        module: Any = network.get_submodule(path)
        if parametrize.is_parametrized(module, "weight"):
            for lens in module.parametrizations.weight:
                if isinstance(lens, kind):
                    yield path, module, lens


def unseen(module: Any) -> Any:
    """The weight behind the lenses."""
    return module.parametrizations.weight.original if parametrize.is_parametrized(module, "weight") else module.weight


def baked(module: Any) -> nn.Module:
    """A plain matrix or table with the weight as it is seen."""
    if not parametrize.is_parametrized(module, "weight"):
        return module
    if isinstance(module, nn.Embedding):
        return nn.Embedding.from_pretrained(module.weight.detach().clone(), freeze=False)
    return linear_of(module.weight, module.bias)


def bake(network: nn.Module, paths: Iterable[str]) -> None:
    """Takes the lenses off; what was seen through them is what is left."""
    exchange(network, paths, baked)
