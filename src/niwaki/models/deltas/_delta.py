"""A delta: few trained numbers that change what one matrix of a frozen trunk computes.

`Tuned` puts a delta around a matrix. How the matrix is stored does not matter: packed weights stay packed, and gradients pass through
them. The tensors of a delta are below `delta` and those of the matrix below `base`, so that names tell a delta from its trunk
(`models/trunk.py`).
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from torch import Tensor, nn

from niwaki.core.catalog import Catalog
from niwaki.core.errors import InputError
from niwaki.core.settings import Settings
from niwaki.models.module_paths import packed_like, to_dense

DELTAS = Catalog("niwaki.models.deltas", what="delta")


class Delta(nn.Module):
    """Base of the files in `models/deltas/`, built as `Delta(in_features, out_features, settings)`. A new one changes nothing."""

    settings: ClassVar[type[Settings]] = Settings
    mergeable: ClassVar[bool] = False  # whether a matrix with the delta is again a matrix

    @classmethod
    def label(cls) -> str:
        """The name of its file."""
        return cls.__module__.rpartition(".")[2]

    def forward(self, base: nn.Module, x: Tensor) -> Tensor:
        """Inputs (…, in) of the matrix to outputs (…, out)."""
        raise NotImplementedError

    def merged(self, dense: nn.Linear) -> nn.Linear:
        """One matrix that computes the same."""
        raise InputError(
            f"{self.label()}: is not linear and cannot be merged; do this before '{self.label()}' is trained"
        )

    def cut(self, outputs: Sequence[int] | None, inputs: Sequence[int] | None) -> "Delta":
        """The delta of a matrix with only these outputs and inputs. None keeps all."""
        raise NotImplementedError


class Tuned(nn.Module):
    """A matrix with a delta."""

    inner: ClassVar[tuple[str, ...]] = ("base",)
    base: nn.Linear  # or a matrix in another form
    delta: Delta

    def __init__(self, base: nn.Module, delta: Delta) -> None:
        super().__init__()
        self.add_module("base", base)
        self.add_module("delta", delta)

    @property
    def in_features(self) -> int:
        return int(self.base.in_features)

    @property
    def out_features(self) -> int:
        return int(self.base.out_features)

    def forward(self, x: Tensor) -> Tensor:
        return self.delta(self.base, x)

    def to_dense(self) -> nn.Linear:
        return self.delta.merged(to_dense(self.base))


def merged(module: nn.Module) -> nn.Module:
    """A matrix without the deltas that can be merged, in the form in which it is stored; others stay around it."""
    if not isinstance(module, Tuned):
        return module
    base = merged(module.base)
    if module.delta.mergeable and not isinstance(base, Tuned):
        return packed_like(base, module.delta.merged(to_dense(base)))
    return Tuned(base, module.delta)


def tuned_paths(network: nn.Module) -> Iterator[str]:
    """Paths of all matrices with deltas; of one with several, the outermost."""
    for path, module in network.named_modules(remove_duplicate=False):
        if isinstance(module, Tuned) and not path.endswith(".base"):
            yield path


def without_deltas(network: nn.Module, path: str) -> str:
    """The path of the matrix at a path, inside its deltas."""
    while isinstance(network.get_submodule(path), Tuned):
        path = f"{path}.base"
    return path
