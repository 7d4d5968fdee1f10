"""Networks on torch's meta device: shapes without values, which take no memory."""

import contextlib
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn import init

Initialize = Callable[..., Tensor]


@contextlib.contextmanager
def on_meta_device() -> Iterator[None]:
    """Creates tensors on the meta device."""
    with torch.device("meta"), without_meta_initialization():
        yield


@contextlib.contextmanager
def without_meta_initialization() -> Iterator[None]:
    """Makes the functions of `torch.nn.init` leave tensors on the meta device alone. Initializing those has no effect and takes half
    of the time to build a network."""
    originals = {name: function for name, function in vars(init).items() if name[0] != "_" and name[-1] == "_"}
    try:
        for name, function in originals.items():
            setattr(init, name, _unless_meta(function))
        yield
    finally:
        for name, function in originals.items():
            setattr(init, name, function)


def _unless_meta(initialize: Initialize) -> Initialize:
    def guarded(tensor: Tensor, *arguments: object, **options: object) -> Tensor:
        return tensor if tensor.is_meta else initialize(tensor, *arguments, **options)

    return guarded
