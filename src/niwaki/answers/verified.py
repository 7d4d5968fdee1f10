"""A generated answer that a verifier has checked: the first of several candidates that solves the problem."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from niwaki.answers._answer_type import EncodedInputs, Input, Value
from niwaki.answers._beam_search import IMPOSSIBLE, SearchSettings
from niwaki.answers.text import Prediction as TextPrediction
from niwaki.answers.text import Text
from niwaki.core.json_types import Json
from niwaki.core.settings import setting
from niwaki.data.problems._problem import Question, problem_of


@dataclass(frozen=True)
class Prediction(TextPrediction):
    verified: bool
    rank: int  # of the text among the candidates, from 1 on
    candidates: int  # how many there were

    def line(self) -> str:
        return f"{self.text}\t{'verified' if self.verified else 'not verified'}"

    def record(self) -> Json:
        own = vars(self)
        return {"generated": self.text, **{name: value for name, value in own.items() if name != "text"}}


class Verified(Text):
    verifier: str = setting("integration", "name of a problem, whose verifier checks the candidates")

    @property
    def search(self) -> SearchSettings:
        """All hypotheses that end are candidates."""
        return replace(super().search, candidates=self.beam)

    def predictions(self, logits: np.ndarray, inputs: Sequence[Input]) -> list[Prediction]:
        """`logits` are the candidates of each input side by side, the best first."""
        if not len(logits):
            return []
        every = logits.reshape(len(logits), -1, 1 + self.max_new_tokens)
        return [self._first_verified(found, question) for found, question in zip(every, inputs, strict=True)]

    def _first_verified(self, found: np.ndarray, question: Question) -> Prediction:
        ended = found[:1] if len(found) == 1 else found[found[:, 0] > IMPOSSIBLE / 2]
        ended = ended if len(ended) else found[:1]
        texts = super().values(ended, _NO_ROWS, [], [])
        problem = problem_of(self.verifier)
        right = next((place for place, text in enumerate(texts) if problem.verify(question, text)), None)
        place = right or 0
        chance = math.exp(min(0.0, float(ended[place, 0])))
        return Prediction(texts[place], chance, right is not None, place + 1, len(texts))

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        """Tables with `text`, `verified` and `rank`."""
        found = self.predictions(logits, inputs)
        return [{"text": one.text, "verified": one.verified, "rank": one.rank} for one in found]

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[TextPrediction]:
        return [*self.predictions(logits, inputs)]

    def confidence(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> np.ndarray:
        """1 where a candidate was verified; else that of the best one, halved."""
        first = super().confidence(logits[:, : 1 + self.max_new_tokens], rows, inputs, labels)
        verified = np.array([one.verified for one in self.predictions(logits, inputs)], dtype=bool)
        return np.where(verified, 1.0, first / 2)

    def same(self, first: Value, second: Value) -> bool:
        return bool(first["text"] == second["text"])


_NO_ROWS = EncodedInputs({}, np.zeros(0, dtype=np.int64), [])
