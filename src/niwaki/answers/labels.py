"""Several labels at once, or none, for a text or a pair of texts: each is on or off by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from niwaki.answers._answer_type import Answer, AnswerType, EncodedInputs, Input, Value
from niwaki.core.settings import setting


@dataclass(frozen=True)
class Prediction(Answer):
    labels: list[str]
    probabilities: dict[str, float]

    def __str__(self) -> str:
        return ", ".join(f"{label} ({self.probabilities[label]:.1%})" for label in self.labels) or "none"


class Labels(AnswerType):
    threshold: float = setting(0.5, "a label is on from this probability", gt=0, lt=1)

    problem: ClassVar[str | None] = "multi_label_classification"
    supports_early_exit: ClassVar[bool] = True

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        on = sigmoid(logits) >= self.threshold
        return [[labels[number] for number in np.flatnonzero(row)] for row in on]

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        chosen = self.values(logits, rows, inputs, labels)
        named = [dict(zip(labels, map(float, row), strict=True)) for row in sigmoid(logits)]
        return [Prediction(found, probabilities) for found, probabilities in zip(chosen, named, strict=True)]

    def confidence(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> np.ndarray:
        """That of the least sure label: its probability where it is on, of its absence where it is off."""
        chances = sigmoid(logits)
        return np.where(chances >= self.threshold, chances, 1 - chances).min(axis=-1, initial=1.0)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logits.astype(np.float64).clip(-700, 700)))
