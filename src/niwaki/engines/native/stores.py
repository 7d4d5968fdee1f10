"""Reads matrices and tables from the weights file with numpy: the packed weights of `models/packed`, without torch.

The kernels multiply floats, or 8-bit integers with a scale per output. Weights of fewer bits are unpacked to 8 bits; floats stay
floats.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from niwaki.core.settings import Settings

MOST_WIDTH = 1 << 16  # of any matrix, so that a product of two sizes fits in 32 bits
MOST_ROWS = 1 << 24
MOST_NUMBERS = 1 << 31  # of an unpacked matrix
DIGITS_PER_WORD = {2: 8, 3: 5, 4: 4, 7: 11, 16: 2, 255: 1}  # base → digits in a word, as in models/packed/low_bit.py

Tensors = Mapping[str, np.ndarray]
Scaled = tuple[np.ndarray, np.ndarray | None]  # (rows, columns), and the scale of each row for integers


class ProgramError(Exception):
    """A program that does not match the tensors of its weights file."""


class Floats(Settings):
    """Float weights (rows, columns)."""

    kind: Literal["floats"] = "floats"
    weight: str

    def read(self, tensors: Tensors) -> Scaled:
        return tensor(tensors, self.weight, 2, np.float32), None


class Int8(Settings):
    """8-bit weights with a scale for each row; `transposed` ones are stored as (columns, rows)."""

    kind: Literal["whole"] = "whole"
    weight: str
    scale: str
    transposed: bool = False

    def read(self, tensors: Tensors) -> Scaled:
        weight = tensor(tensors, self.weight, 2, np.int8)
        weight = weight.T if self.transposed else weight
        scale = tensor(tensors, self.scale, 1, np.float32)
        if len(scale) != len(weight):
            raise ProgramError(f"'{self.scale[:100]}' has {len(scale)} scales for {len(weight)} rows")
        return weight, scale


class LowBit(Settings):
    """Weights of a few bits: several codes in one number, with a scale for each group of neighbours in a row."""

    kind: Literal["digits"] = "digits"
    words: str
    scale: str
    base: Literal[2, 3, 4, 7, 16, 255]
    group: int = Field(ge=1, le=MOST_NUMBERS)
    columns: int = Field(ge=1, le=MOST_NUMBERS)

    def floats(self, tensors: Tensors) -> np.ndarray:
        words = tensor(tensors, self.words, 2, np.int32 if self.base == 7 else np.uint8)
        scale = tensor(tensors, self.scale, 2, np.float16)
        count = DIGITS_PER_WORD[self.base]
        shape = (len(scale), -(-self.columns // count)), (len(words), -(-self.columns // self.group))
        if words.shape != shape[0] or scale.shape != shape[1]:
            raise ProgramError(
                f"'{self.words[:100]}' is {words.shape} with scales {scale.shape}, for {self.columns} columns"
            )
        sized(len(words), self.columns, self.words)
        powers = self.base ** np.arange(count, dtype=np.int32)
        digits = (words[..., None].astype(np.int32) // powers % self.base).reshape(len(words), -1)[:, : self.columns]
        each = np.repeat(scale.astype(np.float32), self.group, axis=1)[:, : self.columns]
        return (digits - np.float32((self.base - 1) / 2)) * each

    def read(self, tensors: Tensors) -> Scaled:
        return rounded(self.floats(tensors))


class Sparse(Settings):
    """Sparse weights: a bit for each weight says whether it is not zero; the others are one row of another store."""

    kind: Literal["sparse"] = "sparse"
    bits: str
    values: Floats | LowBit = Field(discriminator="kind")
    rows: int = Field(ge=1, le=MOST_ROWS)
    columns: int = Field(ge=1, le=MOST_WIDTH)

    def read(self, tensors: Tensors) -> Scaled:
        size = self.rows * self.columns
        sized(self.rows, self.columns, self.bits)
        bits = tensor(tensors, self.bits, 1, np.uint8)
        if len(bits) != -(-size // 8):
            raise ProgramError(f"'{self.bits[:100]}' has {len(bits)} bytes for {size} weights")
        there = np.unpackbits(bits, bitorder="little", count=size).astype(bool)
        stored = self.values
        values = stored.read(tensors)[0] if isinstance(stored, Floats) else stored.floats(tensors)
        if values.size < np.count_nonzero(there):
            raise ProgramError(f"'{self.bits[:100]}' names more weights than the {values.size} that are stored")
        spread = np.zeros(size, dtype=np.float32)
        spread[there] = values.ravel()[: np.count_nonzero(there)]
        weight = spread.reshape(self.rows, self.columns)
        return (weight, None) if isinstance(stored, Floats) else rounded(weight)


class Kronecker(Settings):
    """A sum of Kronecker products, computed when it is read."""

    kind: Literal["kronecker"] = "kronecker"
    first: "Floats | Int8 | LowBit | Sparse" = Field(discriminator="kind")
    second: "Floats | Int8 | LowBit | Sparse" = Field(discriminator="kind")
    terms: int = Field(ge=1, le=MOST_WIDTH)

    def read(self, tensors: Tensors) -> Scaled:
        few, many = (floats(store.read(tensors)) for store in (self.first, self.second))
        if len(few) % self.terms or many.shape[1] % self.terms:
            raise ProgramError(f"{self.terms} terms do not divide factors of {few.shape} and {many.shape}")
        few, many = few.reshape(self.terms, -1, few.shape[1]), many.reshape(len(many), self.terms, -1)
        rows, columns = many.shape[0] * few.shape[1], many.shape[2] * few.shape[2]
        sized(rows, columns, "a sum of Kronecker products")
        weight = np.einsum("atb,tcd->acbd", many, few, optimize=True).reshape(rows, columns)
        return (weight, None) if isinstance(self.first, Floats) else rounded(weight)


class Sinusoids(Settings):
    """Sinusoidal positions, computed when they are read: sines, then cosines (models/networks/encoder_decoder.py)."""

    kind: Literal["sinusoids"] = "sinusoids"
    rows: int = Field(ge=1, le=MOST_WIDTH)
    columns: int = Field(ge=1, le=MOST_WIDTH)

    def read(self, tensors: Tensors) -> Scaled:
        sized(self.rows, self.columns, "a table of sinusoids")
        half = (self.columns + 1) // 2
        steps = np.exp(np.arange(half, dtype=np.float32) * np.float32(-np.log(10_000.0) / half))
        angles = np.arange(self.rows, dtype=np.float32)[:, None] * steps
        return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, : self.columns].astype(np.float32), None


Store = Annotated[Floats | Int8 | LowBit | Sparse | Kronecker | Sinusoids, Field(discriminator="kind")]


def tensor(tensors: Tensors, name: str, dimensions: int, kind: type) -> np.ndarray:
    """A tensor of the file with the expected type and number of dimensions."""
    found = tensors.get(name)
    if found is None:
        raise ProgramError(f"there is no tensor '{name[:100]}'")
    if found.ndim != dimensions or found.dtype != kind or not found.size:
        raise ProgramError(
            f"tensor '{name[:100]}' is {found.dtype} of {found.shape}, not {np.dtype(kind)} of {dimensions} dimensions"
        )
    if found.dtype.kind == "f" and not np.isfinite(found).all():  # rounding to 8 bits would hide it
        raise ProgramError(f"tensor '{name[:100]}' holds numbers that are not finite (NaN or infinity)")
    return found


def sized(rows: int, columns: int, name: str) -> None:
    """Limits the size of an unpacked matrix before memory is allocated for it."""
    if not (1 <= rows <= MOST_ROWS and 1 <= columns <= MOST_NUMBERS and rows * columns <= MOST_NUMBERS):
        raise ProgramError(f"'{name[:100]}' would have {rows} × {columns} numbers")


def floats(found: Scaled) -> np.ndarray:
    weight, scale = found
    return weight.astype(np.float32) if scale is None else weight.astype(np.float32) * scale[:, None]


def rounded(weight: np.ndarray) -> Scaled:
    """Rounds to symmetric 8-bit codes with one scale per row, as `quantize_rows` in `models/packed/int8.py`."""
    scale = np.maximum(np.abs(weight).max(axis=1), np.float32(1e-12)) / np.float32(127)
    return np.clip(np.rint(weight / scale[:, None]), -127, 127).astype(np.int8), scale.astype(np.float32)
