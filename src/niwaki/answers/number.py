"""A number, for a text or a pair of texts. The head gives it in standard units, so that prices train like marks from 0 to 5."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from niwaki.answers._answer_type import Answer, AnswerType, EncodedInputs, Input, Value
from niwaki.core.settings import setting

LARGEST = 1e300  # prices and counts of the user's, not sizes of ours
SAME = 0.1  # steps of the scale: so far apart two numbers are the same answer, far below what any model is wrong by


@dataclass(frozen=True)
class Prediction(Answer):
    value: float

    def __str__(self) -> str:
        return f"{self.value:.4g}"


class Number(AnswerType):
    mean: float = setting(0.0, "what a logit of 0 stands for", le=LARGEST)
    scale: float = setting(1.0, "what a step of 1 in the logit stands for", gt=0, le=LARGEST)

    problem: ClassVar[str | None] = "regression"

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        return (logits[:, 0].astype(np.float64) * self.scale + self.mean).tolist() if len(logits) else []

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        return [Prediction(value) for value in self.values(logits, rows, inputs, labels)]

    def same(self, first: Value, second: Value) -> bool:
        """Engines add in other orders, so numbers are never equal to the last bit."""
        return abs(first - second) <= SAME * self.scale
