"""The log-likelihood of a text with that of each of its tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from pydantic import PrivateAttr
from tokenizers import Tokenizer

from niwaki.answers._answer_type import EncodedInputs, Input
from niwaki.answers.likelihood import Likelihood, Prediction

TokenScore = tuple[str, float]  # a token of the vocabulary and its log-probability


@dataclass(frozen=True)
class Scores(Prediction):
    per_token: list[TokenScore] | list[list[TokenScore]]  # one list for each text of a pair

    def __str__(self) -> str:
        texts = self.per_token if isinstance(self.log_likelihood, list) else [self.per_token]
        return "\t".join(_line(cast(list[TokenScore], text)) for text in texts)


class TokenScores(Likelihood):
    _tokenizer: Tokenizer = PrivateAttr()

    @classmethod
    def of(cls, likelihood: Likelihood, tokenizer: Tokenizer) -> "TokenScores":
        found = cls(**likelihood.model_dump())
        found._tokenizer = tokenizer
        return found

    def reduce(self, logits: np.ndarray, rows: EncodedInputs, sequences: np.ndarray) -> np.ndarray:
        """(sequences, most places of a sequence): log-probabilities, 0 behind the last one."""
        lengths = rows.ids.lengths[sequences]
        starts = np.cumsum(lengths) - lengths
        found = np.zeros((len(sequences), max(len(note.places) for note in rows.metadata)))
        for number, (start, sequence) in enumerate(zip(starts, sequences, strict=True)):
            note = rows.metadata[sequence]
            places = start + np.array(note.places, dtype=np.int64)
            found[number, : len(places)] = self.log_probabilities(
                logits[places], np.array(note.targets, dtype=np.int64)
            )
        return found

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        each: list[list[list[tuple[int, int, float]]]] = [
            [[] for _ in ((given,) if isinstance(given, str) else given)] for given in inputs
        ]
        for owner, note, values in zip(rows.input_index, rows.metadata, logits.tolist(), strict=True):
            each[owner][note.text] += zip(note.places, note.targets, values, strict=False)
        return [self._scores([sorted(text) for text in texts]) for texts in each]

    def _scores(self, texts: list[list[tuple[int, int, float]]]) -> Scores:
        totals = [sum(score for *_, score in text) for text in texts]
        named = [[(self._tokenizer.id_to_token(token) or "", score) for _, token, score in text] for text in texts]
        if len(texts) == 1:
            return Scores(float(totals[0]), len(named[0]), named[0])
        return Scores(totals, [len(text) for text in named], named)


def _line(text: list[TokenScore]) -> str:
    return " ".join(f"{token} {score:.3f}" for token, score in text)
