"""Which of several endings fits a beginning. Every pair is scored by itself; the best one is the answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from tokenizers import Tokenizer

from niwaki.answers._answer_type import (
    Answer,
    AnswerType,
    Columns,
    EncodedInputs,
    EncodedInputsBuilder,
    Input,
    Value,
    check_text,
    chunked,
    softmax,
    with_truncation,
)
from niwaki.data.column_names import ENDINGS, STARTS, WHOLE_STARTS, known, normalize
from niwaki.data.column_names import endings as ending_columns
from niwaki.tokenization.tokenizing import encode_batch


@dataclass(frozen=True)
class Prediction(Answer):
    choice: int  # counted from 0
    ending: str
    probability: float
    probabilities: list[float]

    def __str__(self) -> str:
        return f"{self.choice}: {self.ending} ({self.probability:.1%})"


class Choice(AnswerType):
    input_description: ClassVar[str] = "a pair of a beginning and a list of at least two endings"

    def check(self, given: object) -> Input:
        if not isinstance(given, tuple | list) or len(given) != 2 or isinstance(given[1], str) or len(given[1]) < 2:
            raise TypeError
        return check_text(given[0]), [check_text(ending) for ending in given[1]]

    def from_line(self, line: str) -> Any:
        beginning, *endings = line.split("\t")
        return beginning, endings

    def columns(self, names: Sequence[str]) -> list[Columns]:
        columns = ending_columns(names)
        several: list[Any] = [columns] if columns else [*known(names, ENDINGS)]
        starts = [name for start in STARTS for name in names if normalize(name) == start]
        starts = starts[:1] if starts and normalize(starts[0]) in WHOLE_STARTS else starts
        return [[start, one] for start in starts for one in several]

    def encode(self, inputs: Iterable[Input], tokenizer: Tokenizer, max_tokens: int) -> EncodedInputs:
        """A sequence for each ending. Training takes those of an input together, so there all have as many."""
        tokenizer = with_truncation(tokenizer, max_tokens)
        builder, counts = EncodedInputsBuilder(), set()
        for chunk in chunked(inputs):
            pairs = [(beginning, ending) for beginning, endings in chunk for ending in endings]
            input_index = [number for number, (_, endings) in enumerate(chunk) for _ in endings]
            counts |= {len(endings) for _, endings in chunk}
            builder.add(encode_batch(tokenizer, pairs, fast=True), input_index)
        builder.group = counts.pop() if len(counts) == 1 else 1
        return builder.done()

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        return [int(scores.argmax()) for scores in by_input(logits, rows)]

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        found = zip(inputs, map(softmax, by_input(logits, rows)), strict=True)
        return [_prediction(endings, probabilities) for (_, endings), probabilities in found]

    def confidence(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> np.ndarray:
        """The largest probability of the endings."""
        return softmax(self.candidate_logits(logits, rows)).max(axis=-1, initial=0.0)

    def candidate_logits(self, logits: np.ndarray, rows: EncodedInputs) -> np.ndarray:
        scores = by_input(logits, rows)
        found = np.full((len(scores), max(map(len, scores), default=0)), -np.inf)
        for row, own in zip(found, scores, strict=True):
            row[: len(own)] = own
        return found


def _prediction(endings: list[str], probabilities: np.ndarray) -> Prediction:
    best = int(probabilities.argmax())
    return Prediction(best, endings[best], float(probabilities[best]), probabilities.tolist())


def by_input(logits: np.ndarray, rows: EncodedInputs) -> list[np.ndarray]:
    """The scores of each input's endings."""
    return np.split(logits[:, 0], np.flatnonzero(np.diff(rows.input_index)) + 1) if len(logits) else []
