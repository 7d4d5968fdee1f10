"""Captions of drawn shapes: an image is drawn from its caption, and the question is the image.

A candidate is right if it names each shape that is seen, and no other. Shapes are seen by drawing: the pixels of a color are the kind of shape
whose drawing of that size covers most of the same pixels. Colors vary and pixels are noisy, by less than colors differ.

large red circle top left and small blue square bottom right
"""

import random
from itertools import product

import numpy as np

from niwaki.core.errors import InputError
from niwaki.data.image_bytes import EncodedImage, decode, encode_array
from niwaki.data.problems._problem import Problem, Question

SIDE, CELL = 32, 16  # pixels of an image, and of each of its quarters
PLACES = {(row, column): f"{row} {column}" for row, column in product(("top", "bottom"), ("left", "right"))}
SIZES = {"small": (6, 7, 8), "large": (11, 12, 13)}  # pixels of a side
KINDS = ("circle", "square", "triangle")
BACKGROUND = (40, 40, 40)
COLORS = {
    "red": (215, 45, 45),
    "green": (45, 175, 60),
    "blue": (50, 80, 220),
    "yellow": (220, 205, 50),
    "purple": (170, 60, 190),
    "white": (225, 225, 225),
}
SHIFT, NOISE = 15, 8  # most that a shape's color and that a pixel differ from the color of that name
WORDS = 5  # of a shape: size, color, kind, place
LEAST_PIXELS = 9  # fewer are noise
Shape = tuple[str, ...]


class ShapeCaptions(Problem):
    def draw(self, random_numbers: random.Random) -> tuple[Question, str] | None:
        places = sorted(random_numbers.sample([*PLACES], random_numbers.randint(1, 3)), key=[*PLACES].index)
        shapes = [(*(random_numbers.choice([*some]) for some in (SIZES, COLORS, KINDS)), *place) for place in places]
        pixels = drawing(shapes, np.random.default_rng(random_numbers.getrandbits(63)))
        return encode_array(pixels, "a drawing"), " and ".join(" ".join(shape) for shape in shapes)

    def tokens(self, question: Question) -> list[str]:
        """What is seen: the words of each shape, one after the other."""
        if not isinstance(question, EncodedImage):
            raise ValueError("not an image")
        try:
            image = decode(question, 3)
        except InputError as error:
            raise ValueError(str(error)) from None
        if image.size != (SIDE, SIDE):
            raise ValueError(f"an image of {image.size}, and drawings have {SIDE} pixels a side")
        return [word for shape in seen(np.asarray(image)) for word in shape]

    def check(self, question: list[str], candidate: list[str]) -> bool:
        named = " ".join(candidate).split(" and ")
        wanted = [" ".join(question[start : start + WORDS]) for start in range(0, len(question), WORDS)]
        return sorted(named) == sorted(wanted)


def drawing(shapes: list[Shape], draw: np.random.Generator) -> np.ndarray:
    """(side, side, 3) uint8"""
    pixels = np.tile(np.array(BACKGROUND, dtype=np.int64), (SIDE, SIDE, 1))
    for size, color, kind, row, column in shapes:
        side = int(draw.choice(SIZES[size]))
        top, left = (CELL * (where in ("bottom", "right")) for where in (row, column))
        down, right = (int(draw.integers(1, CELL - side)) for _ in range(2))
        part = pixels[top + down :, left + right :][:side, :side]
        part[mask(kind, side, side)] = np.array(COLORS[color]) + draw.integers(-SHIFT, SHIFT + 1, 3)
    return np.clip(pixels + draw.integers(-NOISE, NOISE + 1, pixels.shape), 0, 255).astype(np.uint8)


def mask(kind: str, high: int, wide: int) -> np.ndarray:
    """(high, wide) the pixels of a shape that fills a box."""
    y, x = (np.arange(count) + 0.5 for count in (high, wide))
    if kind == "square":
        return np.ones((high, wide), dtype=bool)
    if kind == "circle":
        found = ((y[:, None] / high - 0.5) ** 2 + (x / wide - 0.5) ** 2) <= 0.25
    else:
        found = np.abs(x / wide - 0.5) <= (y[:, None] + 0.5) / high / 2
    return np.asarray(found)


def seen(pixels: np.ndarray) -> list[Shape]:
    """The shapes of an image: in each quarter, the color with most pixels."""
    names, palette = ["", *COLORS], np.array([BACKGROUND, *COLORS.values()])
    nearest = ((pixels[:, :, None].astype(np.int64) - palette) ** 2).sum(-1).argmin(-1)
    found = []
    for row, column in PLACES:
        top, left = (CELL * (where in ("bottom", "right")) for where in (row, column))
        quarter = nearest[top : top + CELL, left : left + CELL]
        counts = np.bincount(quarter.ravel(), minlength=len(names))[1:]
        if counts.max() >= LEAST_PIXELS:
            color = int(counts.argmax()) + 1
            found.append((*_size_and_kind(quarter == color, names[color]), row, column))
    return found


def _size_and_kind(covered: np.ndarray, color: str) -> Shape:
    rows, columns = (np.flatnonzero(covered.any(axis)) for axis in (1, 0))
    box = covered[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    same = [(mask(kind, *box.shape) == box).mean() for kind in KINDS]
    size = "large" if max(box.shape) > (max(SIZES["small"]) + min(SIZES["large"])) / 2 else "small"
    return size, color, KINDS[int(np.argmax(same))]
