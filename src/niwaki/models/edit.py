"""An edit: one structural change, as plain data that can be written down, checked, and made again on a fresh skeleton."""

from collections.abc import Iterable, Sequence

from niwaki.core.catalog import Catalog
from niwaki.core.errors import InputError
from niwaki.core.settings import Settings
from niwaki.models.anatomy import Anatomy, Network

EDITS = Catalog("niwaki.models.edits", what="blueprint edit")


class Edit(Settings):
    """Base of the files in `edits/`. The fields are what a blueprint keeps; nothing else may decide what is done."""

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        """Changes the network in place, and its config where the config can tell the new shape."""
        raise NotImplementedError

    def for_blueprint(self) -> "Edit":
        """What a blueprint needs to rebuild the shape: often less than what the cut needed."""
        return self

    @classmethod
    def label(cls) -> str:
        return cls.__module__.rpartition(".")[2]


def resolve_indices(keep: Sequence[int] | int, size: int, what: str) -> list[int]:
    """The indices that `keep` names (an int n stands for the first n), checked against what there is."""
    if isinstance(keep, int) and keep > size:  # before a list of it is made: a file may name any number
        raise InputError(f"{what}: must be different numbers below {size} (given: the first {str(keep)[:20]})")
    indices = list(range(keep)) if isinstance(keep, int) else list(keep)
    if not indices:
        raise InputError(f"{what}: at least one must be kept")
    if len(set(indices)) != len(indices) or min(indices) < 0 or max(indices) >= size:
        raise InputError(f"{what}: must be different numbers below {size} (given: {_short(indices)})")
    return indices


def reject_language_model(anatomy: Anatomy, what: str) -> None:
    """The head of a language model is as wide as the table and the hidden states, and is not cut with them."""
    if not anatomy.is_seq2seq and anatomy.head.pretrains:
        raise InputError(f"{what}: cannot cut a language model; leave '{what}' out, or cut the model of a task")


def per_layer(keep: Sequence[Sequence[int] | int], sizes: Sequence[int], what: str) -> list[list[int]]:
    """`resolve_indices` for every distinct layer, all checked before the first is cut."""
    if len(keep) != len(sizes):
        raise InputError(f"{what}: {len(keep)} layers are named and the model has {len(sizes)}")
    return [
        resolve_indices(one, size, f"{what} of layer {number}")
        for number, (one, size) in enumerate(zip(keep, sizes, strict=True))
    ]


def check_shared_alike(what: str, places: Iterable[tuple[str, object, object]]) -> None:
    """Of each place its name, the module that lies there and what is wanted: of a module in several places, the same in each."""
    first: dict[int, tuple[str, object]] = {}
    for name, module, wanted in places:
        other, before = first.setdefault(id(module), (name, wanted))
        if before != wanted:
            raise InputError(f"{what}: {other} and {name} share their matrices, so the same must be done to both")


def _short(indices: list[int]) -> str:
    return str(indices) if len(indices) < 9 else f"{indices[:4]} … {indices[-2:]}"[:80]
