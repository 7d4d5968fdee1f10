"""Your own questions on texts that hold the answers, or not (SQuAD's form)."""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input, Value
from niwaki.answers.span import LABELS, Span, Window
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.models.criteria import SpanCrossEntropy
from niwaki.models.forward import NO_LABEL
from niwaki.tasks._declarations import TableFormat
from niwaki.tasks._scorer import Scorer
from niwaki.tasks._squad_scores import best_threshold, exact, overlap
from niwaki.tasks._tables import as_text
from niwaki.tasks._task import Task


class QuestionAnswering(Task):
    max_tokens: int = setting(384, "question and text are read in windows of this many tokens", ge=32, le=100_000)
    question: str = setting("", "column that holds the question; none guesses")
    context: str = setting("", "column that holds the text; none guesses")
    answers: str = setting("", "column that holds the right answers: {text, answer_start} lists; none guesses")
    stride: int = setting(64, "tokens that neighbouring windows share", ge=0)

    table: ClassVar[TableFormat] = TableFormat(
        "question_answering",
        ("question", "context", "answers"),
        optional=("title",),
        group_by_text=True,
        sample_by=("question", "context"),  # sampling whole articles would miss the requested number of rows
    )
    answer: ClassVar[str] = "span"
    metric: ClassVar[str] = "overlap"
    description: ClassVar[str] = "the stretch of a text that answers a question"

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        """Rows on the same article (its title, or else the same text) fall into the same split."""
        columns, source = self.data.columns(table), self.data.source
        question, context = (as_text(table, columns[role], source) for role in ("question", "context"))
        self.data.reject_empty(part, pa.table([question, context], [columns["question"], columns["context"]]))
        cells = table.column(columns["answers"]).to_pylist()
        answers = [_answer_texts(cell, f"{source}: column '{columns['answers']}'") for cell in cells]
        starts = [_start(*row) for row in zip(cells, answers, context.to_pylist(), strict=True)]
        article = as_text(table, "title", source) if "title" in table.column_names else context
        given = {"question": question, "context": context, "answers": pa.array(answers, pa.list_(pa.string()))}
        return pa.table({"text": article, **given, "start": pa.array(starts, pa.int64())})

    @property
    def labels(self) -> list[str]:
        return LABELS

    @cached_property
    def answer_type(self) -> Span:
        none = compute.any(compute.equal(compute.list_value_length(self.splits()["train"].column("answers")), 0))
        return Span(stride=self.stride, allow_no_answer=bool(none.as_py()))

    def inputs(self, rows: pa.Table) -> list[Input]:
        return list(zip(rows.column("question").to_pylist(), rows.column("context").to_pylist(), strict=True))

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("answers").to_pylist()

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> np.ndarray:
        """(windows, 2): first and last token of the first gold answer; 0, the first token, if the window lacks it; NO_LABEL if
        the text lacks it, since "no answer" would be wrong."""
        starts, answers = rows.column("start").to_pylist(), self.gold(rows)
        found = np.zeros((len(encoded.metadata), 2), dtype=np.int64)
        for number, (owner, window) in enumerate(zip(encoded.input_index, encoded.metadata, strict=True)):
            if answers[owner]:
                start, end = starts[owner], starts[owner] + len(answers[owner][0])
                found[number] = tokens_of(window, start, end) if start >= 0 else (NO_LABEL, NO_LABEL)
        return found

    @cached_property
    def criterion(self) -> SpanCrossEntropy:
        return SpanCrossEntropy()

    @cached_property
    def scorer(self) -> "SpanScorer":
        return SpanScorer(self)

    def tuned(self, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> AnswerType:
        """With the threshold for "no answer" that scores best on the validation rows."""
        answer_type = self.answer_type
        if not answer_type.allow_no_answer:
            return answer_type
        spans, golds = answer_type.best_spans(logits, rows), self.gold(table)
        contexts = table.column("context").to_pylist()
        if_answer = np.array(
            [
                overlap(text[span.start : span.end], gold)
                for text, span, gold in zip(contexts, spans, golds, strict=True)
            ]
        )
        if_none = np.array([float(not gold) for gold in golds])
        threshold, _ = best_threshold(if_answer, if_none, np.array([span.none - span.score for span in spans]))
        return answer_type.model_copy(update={"threshold": float(np.clip(threshold, -1e6, 1e6))})


class SpanScorer(Scorer[QuestionAnswering]):
    correct_columns: ClassVar[slice] = slice(1, 2)

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        pairs = zip(values, self.task.gold(rows), strict=True)
        return np.array([(exact(answer, gold), overlap(answer, gold)) for answer, gold in pairs], dtype=np.float64)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        return {"overlap": float(example_stats[:, 1].mean()), "exact": float(example_stats[:, 0].mean())}

    def parse_value(self, cell: object) -> Value:
        return "" if cell is None else str(cell)


def tokens_of(window: Window, start: int, end: int) -> tuple[int, int]:
    """First and last token, in the sequence, of the characters [start, end); (0, 0) where they are not all in the window."""
    starts, ends = window.offsets[:, 0], window.offsets[:, 1]
    if not len(starts) or start < starts[0] or end > ends[-1]:
        return 0, 0
    first, last = np.searchsorted(ends, start, side="right"), np.searchsorted(starts, end, side="left") - 1
    return (window.first + int(first), window.first + int(last)) if first <= last else (0, 0)


def _answer_texts(answer: object, where: str) -> list[str]:
    """The distinct gold answers of a row: {text: [...]}, a list of texts or of {text}, a text, or nothing."""
    if isinstance(answer, dict):
        answer = answer.get("text")
    if answer is None or isinstance(answer, str):
        return [answer] if answer else []
    if not isinstance(answer, list):
        raise InputError(f"{where} holds {type(answer).__name__}, not answers ({{text, answer_start}} lists, or texts)")
    texts = (item.get("text") if isinstance(item, dict) else item for item in answer)
    return list(dict.fromkeys(str(text) for text in texts if text))  # SQuAD's copies write "" for no answer


def _start(answer: object, texts: list[str], context: str) -> int:
    """Where the first gold answer begins: at the given offset if it is there, else where it first occurs; -1 if nowhere."""
    first_of = answer[0] if isinstance(answer, list) and answer else answer
    given = first_of.get("answer_start") if isinstance(first_of, dict) else None
    first = (given[0] if isinstance(given, list) and given else given) if texts else None
    if isinstance(first, int) and context[first : first + len(texts[0])] == texts[0]:
        return first
    return context.find(texts[0]) if texts else -1
