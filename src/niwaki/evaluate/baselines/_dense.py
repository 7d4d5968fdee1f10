"""Standardized features for a linear model from vectors of texts, pairs of texts or words."""

from collections.abc import Callable, Sequence

import numpy as np

from niwaki.answers._answer_type import Input
from niwaki.models.linear_model import moments

Vectors = Callable[[Sequence[Input]], np.ndarray]  # texts, or sentences as words, to (texts, width) or (words, width)


class Dense:
    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def fit(self, inputs: Sequence[Input]) -> np.ndarray:
        sides = self._sides(inputs)
        self.centre_ = np.mean([side.mean(axis=0) for side in sides], axis=0)
        features = combined(sides, self.centre_)
        self.mean_, self.scale_ = moments(features)
        return self._standard(features)

    def transform(self, inputs: Sequence[Input]) -> np.ndarray:
        return self._standard(combined(self._sides(inputs), self.centre_))

    def _sides(self, inputs: Sequence[Input]) -> list[np.ndarray]:
        if not isinstance(inputs[0], tuple):
            return [self.vectors(inputs)]
        return [self.vectors([pair[side] for pair in inputs]) for side in (0, 1)]

    def _standard(self, features: np.ndarray) -> np.ndarray:
        features -= self.mean_
        features /= self.scale_
        return features


def combined(sides: list[np.ndarray], centre: np.ndarray) -> np.ndarray:
    """One side unchanged; two as [a, b, |a − b|, a · b, cosine], centred and normalized to length 1."""
    if len(sides) == 1:
        return sides[0].astype(np.float32)
    a, b = (unit(side - centre) for side in sides)
    return np.concatenate([a, b, abs(a - b), a * b, (a * b).sum(axis=1, keepdims=True)], axis=1, dtype=np.float32)


def unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
