"""Weights of a few bits: each is one of `base` levels, and several levels are stored as the digits of one word.

Level d of 0 … base-1 stands for (d - (base-1)/2) × scale; neighbours in a row that form a group share a scale. Two levels take 1 bit
on disk, three 1.6, four 2, seven 2.91, sixteen 4 and 255 levels 8; a scale takes 16 bits per group. Rows are padded to whole words.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.models.packed.store import Store, shaped

DIGITS_PER_WORD = {
    2: 8,
    3: 5,
    4: 4,
    7: 11,
    16: 2,
    255: 1,
}  # base → digits per word; a word has 8 bits, for base 7 it has 32
TRIED = torch.linspace(1.0, 0.3, 18)  # candidates, relative to the scale that reaches the largest weight
ROWS_AT_ONCE = 256  # rows whose scales are searched together; they fit into the CPU cache
SMALLEST = 6e-8  # scale: the smallest float16 above 0


class LowBit(Store):
    """`group` weights of a row share a scale; 0 is the whole row."""

    integers = True
    words: Tensor
    scale: Tensor

    def __init__(self, rows: int, columns: int, base: int, group: int = 0) -> None:
        super().__init__()
        if base not in DIGITS_PER_WORD:
            raise InputError(f"low_bit: base {str(base)[:20]} is not one of {', '.join(map(str, DIGITS_PER_WORD))}")
        if group < 0:
            raise InputError(f"low_bit: group must be 0, which is the whole row, or more (given: {str(group)[:20]})")
        self.rows, self.columns, self.base = rows, columns, base
        self.requested_group = group
        self.group = min(group or columns, columns)
        self.groups = -(-columns // self.group)
        kind = torch.int32 if base == 7 else torch.uint8
        self.register_buffer("words", torch.zeros(rows, -(-columns // DIGITS_PER_WORD[base]), dtype=kind))
        self.register_buffer("scale", torch.ones(rows, self.groups, dtype=torch.float16))

    @classmethod
    def of(cls, weight: Tensor, base: int, group: int = 0, scale: Tensor | None = None) -> "LowBit":
        """Pack a matrix; without `scale`, the scales minimize the squared error."""
        with torch.device(weight.device):
            store = cls(weight.shape[0], weight.shape[1], base, group)
        store.fill(weight, scale)
        return store

    def fill(self, weight: Tensor, scale: Tensor | None = None) -> None:
        if weight.is_meta:  # a skeleton has only shapes
            return
        weight = weight.detach().float()
        found = by_group(partial(best_scale, base=self.base), self.group, weight) if scale is None else scale
        if found.shape != self.scale.shape:
            raise ValueError(f"{tuple(found.shape)} scales are given, and {tuple(self.scale.shape)} are needed")
        self.scale = as_float16(found).to(torch.float16)
        parts = grouped(weight, self.group)
        self.words = pack_words(levels(parts, self.scale.float(), self.base).flatten(1)[:, : self.columns], self.base)

    def forward(self) -> Tensor:
        return self._unpacked(self.words, self.scale)

    def some(self, ids: Tensor) -> Tensor:
        return self._unpacked(self.words[ids], self.scale[ids])

    def _unpacked(self, words: Tensor, scale: Tensor) -> Tensor:
        if torch.onnx.is_in_onnx_export():
            return _Unpack.apply(words, scale, self.base, self.group, self.columns, words.ndim)
        return unpacked(words, scale, self.base, self.group, self.columns)

    def repack(self, weight: Tensor) -> "LowBit":
        return LowBit.of(weight, self.base, self.requested_group)


def grouped(weight: Tensor, group: int) -> Tensor:
    """(rows, columns) to (rows, groups, group); the last group is padded with zeros."""
    return torch.nn.functional.pad(weight, (0, -weight.shape[1] % group)).unflatten(1, (-1, group))


def by_group(scales: Callable[..., Tensor], group: int, weight: Tensor, *old: Tensor) -> Tensor:
    """Scales (rows, groups) of a matrix (rows, columns), from a function of (rows, groups, group) and optional old scales. A shorter
    last group is computed separately."""
    whole = weight.shape[1] // group
    found = [scales(grouped(weight[:, : whole * group], group), *(one[:, :whole] for one in old))] if whole else []
    if weight.shape[1] % group:
        found.append(scales(weight[:, None, whole * group :], *(one[:, whole:] for one in old)))
    return torch.cat(found, dim=1)


def as_float16(scale: Tensor) -> Tensor:
    """A scale rounded to float16, in its own dtype."""
    return scale.clamp(min=SMALLEST).to(torch.float16).to(scale.dtype)


def best_scale(parts: Tensor, base: int) -> Tensor:
    """(rows, groups, group) to the scales (rows, groups) with the least squared rounding error."""
    if base == 2:
        return 2 * parts.abs().mean(dim=-1)  # closed form for the two levels ± scale / 2
    return torch.cat([_searched(rows, base) for rows in parts.split(ROWS_AT_ONCE)])


def _searched(parts: Tensor, base: int) -> Tensor:
    reach = parts.abs().amax(dim=-1) / ((base - 1) / 2)
    best, least = reach, torch.full_like(reach, torch.inf)
    for share in TRIED if base < 255 else TRIED[:1]:
        scale = (reach * share).clamp(min=SMALLEST)
        error = (valued(levels(parts, scale, base), scale, base) - parts).square().sum(dim=-1)
        best, least = torch.where(error < least, scale, best), torch.minimum(error, least)
    return best if base == 255 else refined(parts, best, base)


def refined(parts: Tensor, scale: Tensor, base: int) -> Tensor:
    """The scale with the least squared error for the levels of an old scale; never worse than that."""
    steps = levels(parts, scale, base) - (base - 1) / 2
    weight = steps.square().sum(dim=-1)
    return torch.where(weight > 0, (steps * parts).sum(dim=-1) / weight.clamp(min=SMALLEST), scale)


def levels(parts: Tensor, scale: Tensor, base: int) -> Tensor:
    """The nearest level of each weight, 0 … base-1; halves are rounded to even."""
    return torch.round(parts / scale[..., None].clamp(min=SMALLEST) + (base - 1) / 2).clamp(0, base - 1)


def valued(digits: Tensor, scale: Tensor, base: int) -> Tensor:
    return (digits - (base - 1) / 2) * scale[..., None]


def pack_words(digits: Tensor, base: int) -> Tensor:
    """(rows, n) digits to (rows, words); the first digit of a word is the least significant."""
    count = DIGITS_PER_WORD[base]
    short = -digits.shape[1] % count
    whole = torch.nn.functional.pad(digits, (0, short)).unflatten(1, (-1, count)).to(torch.int64)
    words = (whole * powers(base, digits.device)).sum(dim=-1)
    return words.to(torch.int32 if base == 7 else torch.uint8)


def unpacked(words: Tensor, scale: Tensor, base: int, group: int, columns: int) -> Tensor:
    """(…, words) and (…, groups) to the weights (…, columns)."""
    digits = (words[..., None].to(torch.int32) // powers(base, words.device).to(torch.int32) % base).flatten(-2)
    each = scale.float().repeat_interleave(group, dim=-1)[..., :columns]
    return (digits[..., :columns] - (base - 1) / 2) * each


def powers(base: int, device: torch.device) -> Tensor:
    return base ** torch.arange(DIGITS_PER_WORD[base], device=device)


class _Unpack(torch.autograd.Function):
    """`unpacked` in an ONNX graph, until `engines.expand` replaces it by ONNX operators. `rank` is that of the words."""

    @staticmethod
    def forward(ctx: Any, words: Tensor, scale: Tensor, base: int, group: int, columns: int, rank: int) -> Tensor:
        return unpacked(words, scale, base, group, columns)

    @staticmethod
    def symbolic(g: Any, words: object, scale: object, base: int, group: int, columns: int, rank: int) -> Any:
        attributes = {
            "base_i": base,
            "group_i": group,
            "columns_i": columns,
            "rank_i": rank,
            "digits_i": DIGITS_PER_WORD[base],
        }
        return shaped(g.op("niwaki::Unpack", words, scale, **attributes), scale, [None] * (rank - 1) + [columns])
