"""Weights of which most are 0: a bit for each says whether it is there, and only those that are there are kept."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.models.packed.low_bit import LowBit, pack_words, unpacked
from niwaki.models.packed.store import Floats, Store, shaped

GROUP = 64  # values that share a scale, where they are digits


class Sparse(Store):
    """The values, row after row, are one row of another store: floats, which can be trained, or digits."""

    bits: Tensor

    def __init__(self, rows: int, columns: int, kept: Store) -> None:
        super().__init__()
        self.rows, self.columns, self.kept = rows, columns, kept
        self.integers = kept.integers
        self.register_buffer("bits", torch.zeros(-(-rows * columns // 8), dtype=torch.uint8))
        self._places: tuple[Tensor, int, Tensor] | None = None  # the bits, their version, and which of them are set

    @classmethod
    def of(cls, weight: Tensor, base: int = 0) -> "Sparse":
        """Keeps what is not 0, as floats, or as digits of a base. A skeleton's shape does not tell how many these are."""
        weight = weight.detach()
        values = weight.new_zeros(0) if weight.is_meta else weight[weight != 0]
        with torch.device(weight.device):
            made = cls(weight.shape[0], weight.shape[1], _keep(values, base))
        if not weight.is_meta:
            made.bits = pack_words((weight != 0).reshape(1, -1).float(), 2)[0]
        return made

    @property
    def base(self) -> int:
        """Of the digits that the values are; 0 for floats."""
        return self.kept.base if isinstance(self.kept, LowBit) else 0

    def forward(self) -> Tensor:
        if torch.onnx.is_in_onnx_export():
            return _Spread.apply(self.bits, self.kept(), self.rows, self.columns)
        if self.bits.is_meta:
            return torch.empty(self.rows, self.columns, device="meta")
        flat = spread(self._set(), self.kept()[0], self.rows * self.columns)
        return flat.view(self.rows, self.columns)

    def repack(self, weight: Tensor) -> "Sparse":
        return Sparse.of(weight, self.base)

    def packed(self) -> "Sparse":
        return self if self.base else Sparse.of(self(), 255)

    def fit(self, name: str, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Takes room for as many values as a file has, in which this store is called `name`."""
        shape = shapes.get(f"{name}.kept.scale" if self.base else f"{name}.kept.values", (1, 1))
        if len(shape) == 2 and 0 < shape[1] <= self.rows * self.columns + GROUP:
            self.kept = _keep(torch.empty(shape[1] * (GROUP if self.base else 1), device="meta"), self.base)

    def fault(self) -> str | None:
        """Why the bits do not belong to the values, or None."""
        count = len(self._set())
        if _room(count, self.base) == self.kept.columns:
            return None
        return f"{count} weights are there and {self.kept.columns} are kept"

    def _set(self) -> Tensor:
        """The places whose bits are set, worked out once for the bits as they are."""
        bits, version, _ = self._places or (None, -1, None)
        if self._places is None or bits is not self.bits or version != self.bits._version:
            digits = unpacked(
                self.bits[None], self.bits.new_full((1, 1), 1).float(), 2, len(self.bits) * 8, self.rows * self.columns
            )[0]
            self._places = (self.bits, self.bits._version, (digits > 0).nonzero()[:, 0])
        return self._places[2]


def spread(places: Tensor, values: Tensor, size: int) -> Tensor:
    """`size` numbers: 0 but at `places`, which get the first of the values in turn."""
    return torch.zeros(size, dtype=values.dtype, device=values.device).index_copy(0, places, values[: len(places)])


def _room(count: int, base: int) -> int:
    """Values in store for so many weights: never none; digits fill whole groups, whose number the file tells."""
    return -(-max(1, count) // GROUP) * GROUP if base else max(1, count)


def _keep(values: Tensor, base: int) -> Store:
    """One row, filled up with zeros."""
    row = torch.nn.functional.pad(values, (0, _room(len(values), base) - len(values)))[None]
    if base and row.is_meta:  # no scales are looked for
        with torch.device("meta"):
            return LowBit(1, row.shape[1], base, GROUP)
    return LowBit.of(row, base, GROUP) if base else Floats(row)


class _Spread(torch.autograd.Function):
    """The same in an ONNX graph, until `engines.expand` writes it out."""

    @staticmethod
    def forward(ctx: Any, bits: Tensor, values: Tensor, rows: int, columns: int) -> Tensor:
        return values.new_zeros(rows, columns)

    @staticmethod
    def symbolic(g: Any, bits: Any, values: Any, rows: int, columns: int) -> Any:
        return shaped(g.op("niwaki::Spread", bits, values, rows_i=rows, columns_i=columns), values, [rows, columns])


def check_sparse_stores(network: Any, where: str) -> None:
    """After weights were loaded: every store must have as many values as its bits say."""
    for name, module in network.named_modules():
        fault = module.fault() if isinstance(module, Sparse) else None
        if fault:
            raise InputError(f"{where}: matrix '{name}': {fault}; the file is damaged")
