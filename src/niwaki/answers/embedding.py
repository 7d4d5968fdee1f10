"""A sentence embedding of length 1, for a text or a pair of texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from niwaki.answers._answer_type import Answer, AnswerType, EncodedInputs, Input, Value

SAME = 0.97  # cosine from which on two embeddings count as the same answer


@dataclass(frozen=True)
class Prediction(Answer):
    embedding: list[float]

    def __str__(self) -> str:
        shown = ", ".join(f"{value:.3f}" for value in self.embedding[:4])
        return f"[{shown}{', …' if len(self.embedding) > 4 else ''}]"

    def line(self) -> str:
        return " ".join(f"{value:.6f}" for value in self.embedding)


class Embedding(AnswerType):
    architecture: ClassVar[str] = "FeatureExtraction"

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        return normalized(logits).tolist()

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        return [Prediction(vector) for vector in self.values(logits, rows, inputs, labels)]

    def same(self, first: Value, second: Value) -> bool:
        return float(np.dot(first, second)) >= SAME


def normalized(vectors: np.ndarray) -> np.ndarray:
    """(n, dim) float32 vectors of length 1; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
