"""The answer to a question as a stretch of a text, or none. Long texts are read in windows that overlap."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from tokenizers import Encoding, Tokenizer

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
    with_truncation,
)
from niwaki.core.settings import setting
from niwaki.data.column_names import CONTEXTS, QUESTIONS, known
from niwaki.tokenization.tokenizing import encode_batch

LABELS = ["start", "end"]


class Window(NamedTuple):
    """The part of a text that one sequence holds."""

    first: int  # place of its first token in the sequence
    offsets: np.ndarray  # (tokens, 2) characters of the text

    def within(self, logits: np.ndarray) -> np.ndarray:
        """Of the logits of a sequence, those of the text."""
        return logits[self.first : self.first + len(self.offsets)]


class BestSpan(NamedTuple):
    """The best stretch for one input, and what speaks for none."""

    start: int
    end: int
    score: float
    none: float  # score of no answer; the lowest of the windows, since a window without the answer says none rightly


@dataclass(frozen=True)
class Prediction(Answer):
    answer: str  # empty where the text has none
    start: int  # characters of the text; both 0 where it has none
    end: int
    margin: float  # score of the answer less that of none, in logits; 0 for a text without a token, where none is the only answer

    def __str__(self) -> str:
        return self.answer or "(no answer)"


class Span(AnswerType):
    stride: int = setting(64, "tokens that neighbouring windows share", ge=0)
    max_answer_tokens: int = setting(30, "tokens of an answer, at most", ge=1)
    allow_no_answer: bool = setting(False, "whether a text may hold no answer")
    threshold: float = setting(0.0, "no answer where none leads the best stretch by more than this")

    architecture: ClassVar[str] = "QuestionAnswering"
    per_token: ClassVar[bool] = True
    input_description: ClassVar[str] = "a pair of a question and a text"

    def check(self, given: object) -> Input:
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise TypeError
        return check_text(given[0]), check_text(given[1])

    def columns(self, names: Sequence[str]) -> list[Columns]:
        return [[question, text] for question in known(names, QUESTIONS) for text in known(names, CONTEXTS)]

    def encode(self, inputs: Iterable[Input], tokenizer: Tokenizer, max_tokens: int) -> EncodedInputs:
        """Question and text; a text that does not fit gives several sequences. Notes: their windows."""
        stride = min(self.stride, max_tokens // 4)
        plain, windowed = (
            with_truncation(tokenizer, max_tokens // 2),
            with_truncation(tokenizer, max_tokens, strategy="only_second", stride=stride),
        )
        builder = EncodedInputsBuilder()
        for chunk in chunked(inputs):
            questions = encode_batch(plain, [question for question, _ in chunk])
            pairs = [
                (shortened(question, found), text) for found, (question, text) in zip(questions, chunk, strict=True)
            ]
            found = [
                (number, part)
                for number, whole in enumerate(encode_batch(windowed, pairs))
                for part in (whole, *whole.overflowing)
            ]
            builder.add(
                [part for _, part in found], [number for number, _ in found], [_window(part) for _, part in found]
            )
        return builder.done()

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        return [answer.answer for answer in self.answers(logits, rows, inputs, labels)]

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        found = zip(inputs, self.best_spans(logits, rows), strict=True)
        return [self._prediction(text, best) for (_, text), best in found]

    def confidence(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> np.ndarray:
        """The probability of what is answered, among all stretches of all windows and, where that may be, none."""
        totals = np.full(rows.inputs, -np.inf)
        for number, (owner, window) in enumerate(zip(rows.input_index, rows.metadata, strict=True)):
            scores = window.within(logits[rows.ids.starts[number] : rows.ids.starts[number + 1]])
            totals[owner] = np.logaddexp(totals[owner], log_total(scores[:, 0], scores[:, 1], self.max_answer_tokens))
        return np.array([self._share(*one) for one in zip(self.best_spans(logits, rows), totals, strict=True)])

    def _share(self, best: BestSpan, total: float) -> float:
        """1 for a text that has no token, of which no model can say more."""
        total = float(np.logaddexp(total, best.none)) if self.allow_no_answer else total
        chosen = best.none if self._is_none(best) else best.score
        return math.exp(min(0.0, chosen - total)) if total > -math.inf else 1.0

    def _is_none(self, best: BestSpan) -> bool:
        return self.allow_no_answer and best.none - best.score > self.threshold

    def _prediction(self, text: str, best: BestSpan) -> Prediction:
        margin = best.score - best.none if best.score > -math.inf else 0.0
        if self._is_none(best):
            return Prediction("", 0, 0, margin)
        return Prediction(text[best.start : best.end], best.start, best.end, margin)

    def best_spans(self, logits: np.ndarray, rows: EncodedInputs) -> list[BestSpan]:
        """The best stretch of each input over its windows."""
        best: list[BestSpan | None] = [None] * rows.inputs
        for number, (owner, window) in enumerate(zip(rows.input_index, rows.metadata, strict=True)):
            here = self._in_window(logits[rows.ids.starts[number] : rows.ids.starts[number + 1]], window)
            other = best[owner]
            if other is not None:
                here = max(here, other, key=lambda one: one.score)._replace(none=min(here.none, other.none))
            best[owner] = here
        return [one for one in best if one is not None]

    def _in_window(self, logits: np.ndarray, window: Window) -> BestSpan:
        none = float(logits[0].sum())
        scores = window.within(logits)
        if not len(scores):
            return BestSpan(0, 0, float("-inf"), none)
        start, end, score = best_span(scores[:, 0], scores[:, 1], self.max_answer_tokens)
        return BestSpan(int(window.offsets[start, 0]), int(window.offsets[end, 1]), score, none)


def best_span(starts: np.ndarray, ends: np.ndarray, max_answer_tokens: int) -> tuple[int, int, float]:
    """First and last token of the stretch of at most `max_answer_tokens` tokens with the highest sum of both scores."""
    best = (0, 0, float("-inf"))
    for more in range(min(max_answer_tokens, len(starts))):
        sums = starts[: len(starts) - more] + ends[more:]
        first = int(sums.argmax())
        if sums[first] > best[2]:
            best = (first, first + more, float(sums[first]))
    return best


def log_total(starts: np.ndarray, ends: np.ndarray, max_answer_tokens: int) -> float:
    """The logarithm of the sum of e to the score of every stretch of at most `max_answer_tokens` tokens; -inf without a token."""
    starts, ends = starts.astype(np.float64), ends.astype(np.float64)
    sums = [starts[: len(starts) - more] + ends[more:] for more in range(min(max_answer_tokens, len(starts)))]
    return float(np.logaddexp.reduce(np.concatenate(sums))) if sums else -math.inf


def shortened(question: str, encoding: Encoding) -> str:
    """A question that leaves room for the text: as much of it as was encoded, to a whole character."""
    if not encoding.overflowing:
        return question
    rest = encoding.overflowing[0]
    end = next(start for (start, _), part in zip(rest.offsets, rest.sequence_ids, strict=True) if part == 0)
    return question[:end] or question[:1]


def _window(encoding: Encoding) -> Window:
    places = [place for place, part in enumerate(encoding.sequence_ids) if part == 1]
    if not places:
        return Window(0, np.zeros((0, 2), dtype=np.int32))
    return Window(places[0], np.asarray(encoding.offsets[places[0] : places[-1] + 1], dtype=np.int32))
