"""One label of several, for a text or a pair of texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from niwaki.answers._answer_type import Answer, AnswerType, EncodedInputs, Input, Value, softmax


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


class Label(AnswerType):
    problem: ClassVar[str | None] = "single_label_classification"
    supports_early_exit: ClassVar[bool] = True

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        return [labels[number] for number in logits.argmax(axis=1)] if len(logits) else []

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        shares = softmax(logits)
        found = zip(shares.argmax(axis=1).tolist() if len(shares) else [], shares.tolist(), strict=True)
        return [Prediction(labels[best], row[best], dict(zip(labels, row, strict=True))) for best, row in found]

    def confidence(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> np.ndarray:
        """The largest probability."""
        return softmax(logits).max(axis=-1, initial=0.0)

    def candidate_logits(self, logits: np.ndarray, rows: EncodedInputs) -> np.ndarray:
        return logits
