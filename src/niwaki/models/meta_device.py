"""Networks on torch's meta device: shapes without values, which take no memory."""

import contextlib
import sys
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
    tables = _initializers()
    originals = [{name: table[name] for name in table if name[0] != "_" and name[-1] == "_"} for table in tables]
    try:
        for table, functions in zip(tables, originals, strict=True):
            table.update({name: _unless_meta(function) for name, function in functions.items()})
        yield
    finally:
        for table, functions in zip(tables, originals, strict=True):
            table.update(functions)


def _initializers() -> list[dict[str, Initialize]]:
    """Where functions are looked up by name: in torch, and in transformers if it is imported, which keeps a table of its own."""
    own = getattr(sys.modules.get("transformers.initialization"), "TORCH_INIT_FUNCTIONS", {})
    return [vars(init), own]


def _unless_meta(initialize: Initialize) -> Initialize:
    def guarded(tensor: Tensor, *arguments: object, **options: object) -> Tensor:
        return tensor if tensor.is_meta else initialize(tensor, *arguments, **options)

    return guarded
