"""Which of several endings fits a beginning. Every pair is scored by itself; the best one is the answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from tokenizers import Tokenizer

from niwaki.answers._kind import Answer, Columns, Input, Kind, Rows, Value, Writer, chunked, filled, limited, softmax
from niwaki.data.names import ENDINGS, STARTS, WHOLE_STARTS, known, plain
from niwaki.data.names import endings as ending_columns
from niwaki.data.tokenizing import encode_batch


@dataclass(frozen=True)
class Prediction(Answer):
    choice: int  # counted from 0
    ending: str
    probability: float
    probabilities: list[float]

    def __str__(self) -> str:
        return f"{self.choice}: {self.ending} ({self.probability:.1%})"


class Choice(Kind):
    wants: ClassVar[str] = "a pair of a beginning and a list of at least two endings"
    one_of: ClassVar[bool] = True

    def check(self, given: Any) -> Input:
        if not isinstance(given, tuple | list) or len(given) != 2 or isinstance(given[1], str) or len(given[1]) < 2:
            raise TypeError
        return filled(given[0]), [filled(ending) for ending in given[1]]

    def from_line(self, line: str) -> Any:
        beginning, *endings = line.split("\t")
        return beginning, endings

    def columns(self, names: Sequence[str]) -> list[Columns]:
        columns = ending_columns(names)
        several: list[Any] = [columns] if columns else [*known(names, ENDINGS)]
        starts = [name for start in STARTS for name in names if plain(name) == start]
        starts = starts[:1] if starts and plain(starts[0]) in WHOLE_STARTS else starts
        return [[start, one] for start in starts for one in several]

    def encode(self, inputs: Iterable[Input], tokenizer: Tokenizer, max_tokens: int) -> Rows:
        """A sequence for each ending. Training takes those of an input together, so there all have as many."""
        tokenizer = limited(tokenizer, max_tokens)
        writer, counts = Writer(), set()
        for chunk in chunked(inputs):
            pairs = [(beginning, ending) for beginning, endings in chunk for ending in endings]
            owners = [number for number, (_, endings) in enumerate(chunk) for _ in endings]
            counts |= {len(endings) for _, endings in chunk}
            writer.add(encode_batch(tokenizer, pairs, fast=True), owners)
        writer.group = counts.pop() if len(counts) == 1 else 1
        return writer.done()

    def values(self, logits: np.ndarray, rows: Rows, inputs: Sequence[Input], labels: list[str]) -> list[Value]:
        return [int(scores.argmax()) for scores in by_input(logits, rows)]

    def answers(self, logits: np.ndarray, rows: Rows, inputs: Sequence[Input], labels: list[str]) -> list[Prediction]:
        found = zip(inputs, map(softmax, by_input(logits, rows)), strict=True)
        return [_prediction(endings, probabilities) for (_, endings), probabilities in found]

    def sureness(self, logits: np.ndarray, rows: Rows, inputs: Sequence[Input], labels: list[str]) -> np.ndarray:
        """The largest probability of the endings."""
        return softmax(self.rivals(logits, rows)).max(axis=-1, initial=0.0)

    def rivals(self, logits: np.ndarray, rows: Rows) -> np.ndarray:
        scores = by_input(logits, rows)
        found = np.full((len(scores), max(map(len, scores), default=0)), -np.inf)
        for row, own in zip(found, scores, strict=True):
            row[: len(own)] = own
        return found


def _prediction(endings: list[str], probabilities: np.ndarray) -> Prediction:
    best = int(probabilities.argmax())
    return Prediction(best, endings[best], float(probabilities[best]), probabilities.tolist())


def by_input(logits: np.ndarray, rows: Rows) -> list[np.ndarray]:
    """The scores of each input's endings."""
    return np.split(logits[:, 0], np.flatnonzero(np.diff(rows.owners)) + 1) if len(logits) else []
