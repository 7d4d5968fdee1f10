"""Averages of weights in place of the trained weights, for a validation or for good."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping

import torch
from torch import Tensor, nn

from niwaki.methods._method import AveragesWeights, Method, methods_with
from niwaki.models.model import Model


def averages(methods: Iterable[Method], model: Model) -> dict[str, Tensor]:
    """What the methods average, by parameter name; empty where nothing is averaged yet."""
    found: dict[str, Tensor] = {}
    for method in methods_with(methods, AveragesWeights):
        found.update(method.averages(model))
    return found


@contextlib.contextmanager
def replaced_weights(network: nn.Module, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """The network has these weights inside, and its own again afterwards."""
    own = {name: value.detach().clone() for name, value in network.named_parameters() if name in weights}
    put_weights(network, weights)
    yield
    put_weights(network, own)


@torch.no_grad()
def put_weights(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    for name, value in weights.items():
        network.get_parameter(name).copy_(value)
