"""Sparse weights: one bit per weight marks the nonzeros, and only those are stored."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.models.packed.low_bit import LowBit, pack_words, unpacked
from niwaki.models.packed.store import Floats, Store, shaped

GROUP = 64  # low-bit values that share a scale


class Sparse(Store):
    """The nonzero values are one row of another store: floats, which can be trained, or low-bit values."""

    bits: Tensor

    def __init__(self, rows: int, columns: int, nonzeros: Store) -> None:
        super().__init__()
        self.rows, self.columns, self.nonzeros = rows, columns, nonzeros
        self.integers = nonzeros.integers
        self.register_buffer("bits", torch.zeros(-(-rows * columns // 8), dtype=torch.uint8))
        self._places: tuple[Tensor, int, Tensor] | None = (
            None  # the bits, their version, and the positions that are set
        )

    @classmethod
    def of(cls, weight: Tensor, base: int = 0) -> "Sparse":
        """Store the nonzeros as floats, or with `base` levels. For a skeleton their number is unknown."""
        weight = weight.detach()
        values = weight.new_zeros(0) if weight.is_meta else weight[weight != 0]
        with torch.device(weight.device):
            store = cls(weight.shape[0], weight.shape[1], _keep(values, base))
        if not weight.is_meta:
            store.bits = pack_words((weight != 0).reshape(1, -1).float(), 2)[0]
        return store

    @property
    def base(self) -> int:
        """Number of levels of the values; 0 for floats."""
        return self.nonzeros.base if isinstance(self.nonzeros, LowBit) else 0

    def forward(self) -> Tensor:
        if torch.onnx.is_in_onnx_export():
            return _Spread.apply(self.bits, self.nonzeros(), self.rows, self.columns)
        if self.bits.is_meta:
            return torch.empty(self.rows, self.columns, device="meta")
        flat = spread(self._set(), self.nonzeros()[0], self.rows * self.columns)
        return flat.view(self.rows, self.columns)

    def repack(self, weight: Tensor) -> "Sparse":
        return Sparse.of(weight, self.base)

    def packed(self) -> "Sparse":
        return self if self.base else Sparse.of(self(), 255)

    def fit(self, name: str, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Allocate as many values as the file has for the store called `name`."""
        shape = shapes.get(f"{name}.nonzeros.scale" if self.base else f"{name}.nonzeros.values", (1, 1))
        if len(shape) == 2 and 0 < shape[1] <= self.rows * self.columns + GROUP:
            self.nonzeros = _keep(torch.empty(shape[1] * (GROUP if self.base else 1), device="meta"), self.base)

    def fault(self) -> str | None:
        """Why bits and values do not match, or None."""
        count = len(self._set())
        if _room(count, self.base) == self.nonzeros.columns:
            return None
        return f"{count} bits are set and {self.nonzeros.columns} values are stored"

    def _set(self) -> Tensor:
        """The positions whose bits are set, cached until the bits change."""
        bits, version, _ = self._places or (None, -1, None)
        if self._places is None or bits is not self.bits or version != self.bits._version:
            digits = unpacked(
                self.bits[None], self.bits.new_full((1, 1), 1).float(), 2, len(self.bits) * 8, self.rows * self.columns
            )[0]
            self._places = (self.bits, self.bits._version, (digits > 0).nonzero()[:, 0])
        return self._places[2]


def spread(places: Tensor, values: Tensor, size: int) -> Tensor:
    """`size` numbers: 0 except at `places`, which get the values in order."""
    return torch.zeros(size, dtype=values.dtype, device=values.device).index_copy(0, places, values[: len(places)])


def _room(count: int, base: int) -> int:
    """Number of stored values for `count` nonzeros: at least one; low-bit values fill whole groups."""
    return -(-max(1, count) // GROUP) * GROUP if base else max(1, count)


def _keep(values: Tensor, base: int) -> Store:
    """A store with one row, padded with zeros."""
    row = torch.nn.functional.pad(values, (0, _room(len(values), base) - len(values)))[None]
    if base and row.is_meta:  # skip the search for scales
        with torch.device("meta"):
            return LowBit(1, row.shape[1], base, GROUP)
    return LowBit.of(row, base, GROUP) if base else Floats(row)


class _Spread(torch.autograd.Function):
    """`spread` in an ONNX graph, until `engines.expand` replaces it by ONNX operators."""

    @staticmethod
    def forward(ctx: Any, bits: Tensor, values: Tensor, rows: int, columns: int) -> Tensor:
        return values.new_zeros(rows, columns)

    @staticmethod
    def symbolic(g: Any, bits: object, values: object, rows: int, columns: int) -> Any:
        return shaped(g.op("niwaki::Spread", bits, values, rows_i=rows, columns_i=columns), values, [rows, columns])


def check_sparse_stores(network: Any, where: str) -> None:
    """Raise InputError if a store of loaded weights has another number of values than bits."""
    for name, module in network.named_modules():
        fault = module.fault() if isinstance(module, Sparse) else None
        if fault:
            raise InputError(f"{where}: matrix '{name}': {fault}; the file is damaged")
