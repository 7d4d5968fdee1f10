"""Tensors that a network has under several names, because layers share them. Files keep each once, under its first name."""

from collections.abc import Mapping

from torch import Tensor, nn


def first_names(module: nn.Module) -> dict[str, str]:
    """Every name in the state, and the first one of the same tensor."""
    seen: dict[int, str] = {}
    return {name: seen.setdefault(id(value), name) for name, value in module.state_dict(keep_vars=True).items()}


def unique_tensors(module: nn.Module) -> dict[str, Tensor]:
    """The state with each tensor once."""
    state: Mapping[str, Tensor] = module.state_dict()
    return {name: state[name].detach().contiguous() for name, first in first_names(module).items() if name == first}


def with_tied_names(module: nn.Module, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state of a file with every name that the module has for a tensor; what it does not know stays as it is."""
    names = first_names(module)
    return {**state, **{name: state[first] for name, first in names.items() if first in state and name not in state}}
