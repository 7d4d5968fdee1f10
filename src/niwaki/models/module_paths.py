"""Where matrices lie in a network, and putting others in their place. The same module may lie in several places (shared)."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch import nn

from niwaki.core.json_types import Json
from niwaki.models.packed.factored import Factored, FactoredTable, linear_of
from niwaki.models.packed.low_bit import LowBit
from niwaki.models.packed.removed import Removed
from niwaki.models.packed.sparse import GROUP, Sparse
from niwaki.models.packed.store import StoredLinear

Make = Callable[[Any], nn.Module]


def has_module(network: nn.Module, path: str) -> bool:
    try:
        network.get_submodule(path)
    except AttributeError:
        return False
    return True


def leaf_paths(network: nn.Module, path: str) -> Iterator[str]:
    """The places of the matrices that the module at `path` is made of: its own, where it is one; none of what is silent."""
    module = network.get_submodule(path)
    inner = getattr(module, "inner", ())
    if not inner and not isinstance(module, Removed):
        yield path
    for name in inner:
        yield from leaf_paths(network, f"{path}.{name}")


def unique_modules(network: nn.Module, paths: Iterable[str]) -> Json:
    """By their first paths, the modules at these, each once though it lie in several places."""
    found: dict[int, tuple[str, Any]] = {}
    for path in paths:
        module = network.get_submodule(path)
        found.setdefault(id(module), (path, module))
    return dict(found.values())


class SharedReplacement:
    """Replaces each module once, however often it occurs. Modules that it created are not replaced again."""

    def __init__(self) -> None:
        self.replacements: dict[int, nn.Module] = {}
        self.alive: list[nn.Module] = []  # else another module could get the number of one that is gone

    def __call__(self, old: nn.Module, make: Make) -> nn.Module:
        if id(old) not in self.replacements:
            new = make(old)
            self.replacements[id(old)] = self.replacements[id(new)] = new
            self.alive += [old, new]
        return self.replacements[id(old)]


def replace_modules(network: nn.Module, paths: Iterable[str], make: Make) -> None:
    """Puts what `make` makes of each module in its place; what was shared stays shared."""
    once = SharedReplacement()
    for path in list(paths):
        network.set_submodule(path, once(network.get_submodule(path), make))


def to_dense(module: Any) -> Any:
    """The same matrix or table as plain floats."""
    if isinstance(module, nn.Linear | nn.Embedding):
        return module
    if isinstance(module, Factored):
        return _multiplied(module)
    if isinstance(module, FactoredTable):
        rows = to_dense(module.table).weight @ to_dense(module.up).weight.T
        return nn.Embedding.from_pretrained(rows.detach(), freeze=False)
    return module.to_dense()


def _multiplied(module: Factored) -> nn.Linear:
    first, second = to_dense(module.first), to_dense(module.second)
    return linear_of(second.weight @ first.weight, second.bias)


def packed_like(old: Any, new: nn.Linear) -> nn.Module:
    """A plain matrix kept as `old` is, or as the last of those that it is made of. Numbers without zeros are not kept sparse."""
    while getattr(old, "inner", ()):
        old = getattr(old, old.inner[-1])
    store = getattr(old, "store", None)
    if isinstance(store, Sparse):
        return StoredLinear(LowBit.of(new.weight, store.base, GROUP), new.bias) if store.base else new
    return old.repack(new) if hasattr(old, "repack") else new
