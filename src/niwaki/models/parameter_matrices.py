"""Matrices that a network of transformers has as parameters (hidden, heads, head size), as linear layers of their own (XLNet)."""

import re
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from niwaki.models.family import Family, Network

OUT = "out"  # the one that writes hidden states; the others read them


def set_matrices(network: Network, family: type[Family]) -> None:
    """Puts linear layers in place of the parameters; transformers' own forward pass reads them as it did."""
    assert family.layer is not None
    names = dict(family.layer.stack.parameters)
    for layer in family.layers(network.get_submodule(family.body)):
        module: Network = layer.get_submodule(family.layer.attention_module)
        if OUT in module._modules:
            continue
        for name, parameter in names.items():
            wide = module._parameters.pop(parameter).detach().flatten(1)  # (hidden, heads × head size)
            module.add_module(name, _linear(wide if name == OUT else wide.T))
        views = {parameter: _view(name, family.layer.head_size_key) for name, parameter in names.items()}
        module.__class__ = type(type(module).__name__, (type(module),), views)


def _linear(weight: Tensor) -> nn.Linear:
    found = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
    found.weight = nn.Parameter(weight.contiguous())
    return found


def _view(name: str, head_size_key: str) -> property:
    """A matrix in the shape of the parameter, in whatever form it is stored."""

    def parameter(module: Network) -> Tensor:
        matrix, size = module.get_submodule(name), getattr(module, head_size_key)
        like = next(module.parameters())
        product: Tensor = matrix(torch.eye(matrix.in_features, dtype=like.dtype, device=like.device))
        return (product.T if name == OUT else product).unflatten(-1, (-1, size))

    return property(parameter)


def parameter_names(network: Network, tensors: Mapping[str, Tensor], family: type[Family]) -> dict[str, Tensor]:
    """The tensors under the names and in the shapes of the parameters."""
    assert family.layer is not None
    names, size = dict(family.layer.stack.parameters), int(getattr(network.config, family.layer.head_size_key))
    ending = re.compile(rf"{re.escape(family.layer.attention_module)}\.({'|'.join(names)})\.weight$")
    return dict(_published(name, value, ending, names, size) for name, value in tensors.items())


def _published(
    name: str, value: Tensor, ending: re.Pattern[str], names: Mapping[str, str], size: int
) -> tuple[str, Tensor]:
    found = ending.search(name)
    if found is None:
        return name, value
    wide = value if found[1] == OUT else value.T
    path: Callable[[str], str] = name.removesuffix(f"{found[1]}.weight").__add__
    return path(names[found[1]]), wide.unflatten(-1, (-1, size)).contiguous()
