"""Images of one size as one array: a byte for each pixel and channel, and on disk where they are many. Batches are normalized floats."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from niwaki.data.scratch import GrowingArray, joined

PIXELS = "pixel_values"  # what networks call this input


@dataclass(frozen=True)
class PixelScale:
    """From bytes to a network's numbers: (byte × factor - mean) / std, by channel."""

    factor: float
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """(…, channels, height, width) bytes to float32."""
        mean, std = (np.array(one, dtype=np.float32)[:, None, None] for one in (self.mean, self.std))
        return ((values * self.factor).astype(np.float32) - mean) / std


@dataclass(frozen=True)
class Pixels:
    """Takes the place of token ids (`data/ragged.py`): a sequence for each image, all of the same length."""

    values: np.ndarray  # (images, channels, height, width) uint8
    tokens: int  # what a network makes of an image
    scale: PixelScale

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.full(len(self), self.tokens, dtype=np.int64)

    def stretch(self, block: range) -> "Pixels":
        """Images that follow one another."""
        return Pixels(self.values[block.start : block.stop], self.tokens, self.scale)

    def padded(self, rows: Sequence[int] | np.ndarray, fill: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Chosen images as floats (rows, channels, height, width), and the mask of their tokens (rows, tokens)."""
        rows = np.asarray(rows, dtype=np.int64)
        return self.scale(self.values[rows]), np.ones((len(rows), self.tokens), dtype=bool)

    def joined(self, other: "Pixels") -> "Pixels":
        shape = self.values.shape[1:]
        flat = joined(self.values.reshape(-1), other.values.reshape(-1))
        return Pixels(flat.reshape(-1, *shape), self.tokens, self.scale)


class PixelsBuilder:
    """Takes images (channels, height, width) one by one."""

    def __init__(self, shape: tuple[int, int, int], tokens: int, scale: PixelScale) -> None:
        self.shape, self.tokens, self.scale = shape, tokens, scale
        self._values = GrowingArray(np.uint8)

    def add(self, image: np.ndarray) -> None:
        self._values.add(image.reshape(-1))

    def done(self) -> Pixels:
        return Pixels(self._values.done().reshape(-1, *self.shape), self.tokens, self.scale)
