"""Two small tables of word vectors of which one is a rotation of the other, with noise."""

import numpy as np

from niwaki.vectors.table import WordVectors


def rotation(size: int, seed: int = 0) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0].astype(np.float32)


def two_tables(words: int = 300, size: int = 12, noise: float = 0.0, seed: int = 0) -> tuple[WordVectors, WordVectors]:
    """Words `a0`, `a1` … mean `b0`, `b1` …"""
    draw = np.random.default_rng(seed)
    first = draw.normal(size=(words, size)).astype(np.float32)
    second = first @ rotation(size, seed) + noise * draw.normal(size=(words, size)).astype(np.float32)
    return WordVectors([f"a{n}" for n in range(words)], first), WordVectors([f"b{n}" for n in range(words)], second)


def pairs(numbers) -> list[tuple[str, str]]:
    return [(f"a{n}", f"b{n}") for n in numbers]
