"""Weights of a few bits: each one of `base` levels, several of them written as the digits of one number.

A level d of 0 … base-1 stands for (d - (base-1)/2) × scale; a scale belongs to a group of neighbours in a row. Two levels
take 1 bit on disk, three 1.6, four 2, seven 2.91, sixteen 4, and 255 levels 8; a scale takes 16 bits more for its group.
A row is filled up to whole words, and to nothing else.
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
}  # base → digits in a word: bytes, but for 7, which fills four
TRIED = torch.linspace(1.0, 0.3, 18)  # shares of the scale that reaches the largest weight
AT_ONCE = 256  # rows whose scales are looked for together: few enough for a processor's cache
SMALLEST = 6e-8  # of a scale: the least that 16 bits can tell from 0


class LowBit(Store):
    """`group` is how many weights of a row share a scale; 0 stands for the whole row."""

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
        self.asked = group
        self.group = min(group or columns, columns)
        self.groups = -(-columns // self.group)
        kind = torch.int32 if base == 7 else torch.uint8
        self.register_buffer("words", torch.zeros(rows, -(-columns // DIGITS_PER_WORD[base]), dtype=kind))
        self.register_buffer("scale", torch.ones(rows, self.groups, dtype=torch.float16))

    @classmethod
    def of(cls, weight: Tensor, base: int, group: int = 0, scale: Tensor | None = None) -> "LowBit":
        """Packs a matrix; the scales are those with the least squared error, unless they are given."""
        with torch.device(weight.device):
            made = cls(weight.shape[0], weight.shape[1], base, group)
        made.fill(weight, scale)
        return made

    def fill(self, weight: Tensor, scale: Tensor | None = None) -> None:
        if weight.is_meta:  # of a skeleton the shapes are all there is
            return
        weight = weight.detach().float()
        found = by_group(partial(best_scale, base=self.base), self.group, weight) if scale is None else scale
        if found.shape != self.scale.shape:
            raise ValueError(f"{tuple(found.shape)} scales are given, and {tuple(self.scale.shape)} are needed")
        self.scale = kept(found).to(torch.float16)
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
        return LowBit.of(weight, self.base, self.asked)


def grouped(weight: Tensor, group: int) -> Tensor:
    """(rows, columns) to (rows, groups, group); the last group is filled up with zeros."""
    return torch.nn.functional.pad(weight, (0, -weight.shape[1] % group)).unflatten(1, (-1, group))


def by_group(scales: Callable[..., Tensor], group: int, weight: Tensor, *old: Tensor) -> Tensor:
    """The scales (rows, groups) that a function of (rows, groups, group), and of older scales, gives a matrix (rows, columns);
    a last group that is short is asked about by itself."""
    whole = weight.shape[1] // group
    found = [scales(grouped(weight[:, : whole * group], group), *(one[:, :whole] for one in old))] if whole else []
    if weight.shape[1] % group:
        found.append(scales(weight[:, None, whole * group :], *(one[:, whole:] for one in old)))
    return torch.cat(found, dim=1)


def kept(scale: Tensor) -> Tensor:
    """A scale as 16 bits keep it."""
    return scale.clamp(min=SMALLEST).to(torch.float16).to(scale.dtype)


def best_scale(parts: Tensor, base: int) -> Tensor:
    """(rows, groups, group) to the scale of each group (rows, groups) that rounds it with the least squared error."""
    if base == 2:
        return 2 * parts.abs().mean(dim=-1)  # of two levels ± scale / 2, the best known by formula
    return torch.cat([_searched(rows, base) for rows in parts.split(AT_ONCE)])


def _searched(parts: Tensor, base: int) -> Tensor:
    reach = parts.abs().amax(dim=-1) / ((base - 1) / 2)
    best, least = reach, torch.full_like(reach, torch.inf)
    for share in TRIED if base < 255 else TRIED[:1]:
        scale = (reach * share).clamp(min=SMALLEST)
        error = (valued(levels(parts, scale, base), scale, base) - parts).square().sum(dim=-1)
        best, least = torch.where(error < least, scale, best), torch.minimum(error, least)
    return best if base == 255 else refined(parts, best, base)


def refined(parts: Tensor, scale: Tensor, base: int) -> Tensor:
    """For the levels that a scale gives, the scale with the least squared error: never a worse one."""
    steps = levels(parts, scale, base) - (base - 1) / 2
    weight = steps.square().sum(dim=-1)
    return torch.where(weight > 0, (steps * parts).sum(dim=-1) / weight.clamp(min=SMALLEST), scale)


def levels(parts: Tensor, scale: Tensor, base: int) -> Tensor:
    """The nearest level of each weight, 0 … base-1; halves go to the even one."""
    return torch.round(parts / scale[..., None].clamp(min=SMALLEST) + (base - 1) / 2).clamp(0, base - 1)


def valued(digits: Tensor, scale: Tensor, base: int) -> Tensor:
    return (digits - (base - 1) / 2) * scale[..., None]


def pack_words(digits: Tensor, base: int) -> Tensor:
    """(rows, n) digits as (rows, words); the first digit of a word counts ones."""
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
    """The same in an ONNX graph, until `engines.expand` writes it out. `rank` is that of the words."""

    @staticmethod
    def forward(ctx: Any, words: Tensor, scale: Tensor, base: int, group: int, columns: int, rank: int) -> Tensor:
        return unpacked(words, scale, base, group, columns)

    @staticmethod
    def symbolic(g: Any, words: Any, scale: Any, base: int, group: int, columns: int, rank: int) -> Any:
        said = {
            "base_i": base,
            "group_i": group,
            "columns_i": columns,
            "rank_i": rank,
            "digits_i": DIGITS_PER_WORD[base],
        }
        return shaped(g.op("niwaki::Unpack", words, scale, **said), scale, [None] * (rank - 1) + [columns])
