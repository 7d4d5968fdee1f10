"""Stores matrices as 8-bit integers with a fixed input range, and the token table as 8-bit integers."""

from functools import partial

from pydantic import PrivateAttr
from torch import nn

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.embedding_tables import small_weights, token_tables
from niwaki.models.module_paths import SharedReplacement, replace_modules, to_dense
from niwaki.models.packed.int8 import Int8Linear, pack_int8
from niwaki.models.packed.static import Range, StaticInt8Linear


class Static(Edit):
    embeddings: bool = True  # pack the token table too
    small_weights: bool = False  # pack the small tables and the inner matrices of the head too

    _ranges: dict[str, Range] = PrivateAttr(default_factory=dict)

    def with_ranges(self, ranges: dict[str, Range]) -> "Static":
        """Set the input ranges, by the paths of the matrices."""
        self._ranges = ranges
        return self

    def for_blueprint(self) -> "Static":
        return Static(**self.model_dump())

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        once = SharedReplacement()
        for path in list(anatomy.matrices()):
            make = partial(packed, given=self._ranges.get(path))
            network.set_submodule(path, once(network.get_submodule(path), make))
        tables = token_tables(anatomy) if self.embeddings else []
        replace_modules(network, [*tables, *(small_weights(anatomy) if self.small_weights else [])], pack_int8)


def packed(module: object, given: Range | None) -> nn.Module:
    """The packed module; modules with fewer bits are returned unchanged."""
    if isinstance(module, nn.Linear | Int8Linear):
        return StaticInt8Linear.of(to_dense(module), given)
    return module if isinstance(module, StaticInt8Linear) else pack_int8(module)
