"""Where matrices lie in a network, and putting others in their place. The same module may lie in several places (shared)."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch import nn

from niwaki.models.forms.digits import Digits
from niwaki.models.forms.factored import Factored, FactoredTable, linear_of
from niwaki.models.forms.silent import Silent
from niwaki.models.forms.sparse import GROUP, Sparse
from niwaki.models.forms.store import StoredLinear

Make = Callable[[Any], nn.Module]


def leaves(network: nn.Module, path: str) -> Iterator[str]:
    """The places of the matrices that the module at `path` is made of: its own, where it is one; none of what is silent."""
    module = network.get_submodule(path)
    inner = getattr(module, "inner", ())
    if not inner and not isinstance(module, Silent):
        yield path
    for name in inner:
        yield from leaves(network, f"{path}.{name}")


def once_each(network: nn.Module, paths: Iterable[str]) -> dict[str, Any]:
    """By their first paths, the modules at these, each once though it lie in several places."""
    found: dict[int, tuple[str, Any]] = {}
    for path in paths:
        module = network.get_submodule(path)
        found.setdefault(id(module), (path, module))
    return dict(found.values())


class Once:
    """Makes one new module of each old one, however often it is met; of what it made itself, nothing further."""

    def __init__(self) -> None:
        self.made: dict[int, nn.Module] = {}
        self.alive: list[nn.Module] = []  # else another module could get the number of one that is gone

    def __call__(self, old: nn.Module, make: Make) -> nn.Module:
        if id(old) not in self.made:
            new = make(old)
            self.made[id(old)] = self.made[id(new)] = new
            self.alive += [old, new]
        return self.made[id(old)]


def exchange(network: nn.Module, paths: Iterable[str], make: Make) -> None:
    """Puts what `make` makes of each module in its place; what was shared stays shared."""
    once = Once()
    for path in list(paths):
        network.set_submodule(path, once(network.get_submodule(path), make))


def plain(module: Any) -> Any:
    """The same matrix or table as plain floats."""
    if isinstance(module, nn.Linear | nn.Embedding):
        return module
    if isinstance(module, Factored):
        return _multiplied(module)
    if isinstance(module, FactoredTable):
        rows = plain(module.table).weight @ plain(module.up).weight.T
        return nn.Embedding.from_pretrained(rows.detach(), freeze=False)
    return module.plain()


def _multiplied(module: Factored) -> nn.Linear:
    first, second = plain(module.first), plain(module.second)
    return linear_of(second.weight @ first.weight, second.bias)


def alike(old: Any, new: nn.Linear) -> nn.Module:
    """A plain matrix kept as `old` is, or as the last of those that it is made of. Numbers without zeros are not kept sparse."""
    while getattr(old, "inner", ()):
        old = getattr(old, old.inner[-1])
    store = getattr(old, "store", None)
    if isinstance(store, Sparse):
        return StoredLinear(Digits.of(new.weight, store.base, GROUP), new.bias) if store.base else new
    return old.again(new) if hasattr(old, "again") else new
