"""One label of several, for a text or a pair of texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from niwaki.answers._kind import Answer, Input, Kind, Rows, Value, softmax


@dataclass(frozen=True)
class Prediction(Answer):
    """One answer."""

    label: str
    probability: float
    probabilities: dict[str, float]

    def __str__(self) -> str:
        return f"{self.label} ({self.probability:.1%})"

    def line(self) -> str:
        return f"{self.label}\t{self.probability:.4f}"


class Label(Kind):
    problem: ClassVar[str | None] = "single_label_classification"
    one_of: ClassVar[bool] = True
    leaves: ClassVar[bool] = True

    def values(self, logits: np.ndarray, rows: Rows, inputs: Sequence[Input], labels: list[str]) -> list[Value]:
        return [labels[number] for number in logits.argmax(axis=1)] if len(logits) else []

    def answers(self, logits: np.ndarray, rows: Rows, inputs: Sequence[Input], labels: list[str]) -> list[Prediction]:
        shares = softmax(logits)
        found = zip(shares.argmax(axis=1).tolist() if len(shares) else [], shares.tolist(), strict=True)
        return [Prediction(labels[best], row[best], dict(zip(labels, row, strict=True))) for best, row in found]

    def sureness(self, logits: np.ndarray, rows: Rows, inputs: Sequence[Input], labels: list[str]) -> np.ndarray:
        """The largest probability."""
        return softmax(logits).max(axis=-1, initial=0.0)

    def rivals(self, logits: np.ndarray, rows: Rows) -> np.ndarray:
        return logits
