"""Your own questions on texts that hold the answers, or not (SQuAD's form)."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import torch
from pyarrow import compute
from torch import Tensor
from torch.nn import functional

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input, Value
from niwaki.answers.span import LABELS, Span, Window
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.models.distillation_losses import soft_cross_entropy
from niwaki.models.forward import Batch
from niwaki.tasks._squad_scores import best_threshold, exact, overlap
from niwaki.tasks._tables import as_text
from niwaki.tasks._task import NO_LABEL, Task

FAR = -1e4  # a logit that is never chosen; finite, so that the teacher's and the student's can be subtracted


class QuestionAnswering(Task):
    max_tokens: int = setting(384, "question and text are read in windows of this many tokens", ge=32, le=100_000)
    question: str = setting("", "column that holds the question; none guesses")
    context: str = setting("", "column that holds the text; none guesses")
    answers: str = setting("", "column that holds the right answers: {text, answer_start} lists; none guesses")
    stride: int = setting(64, "tokens that neighbouring windows share", ge=0)

    column_roles: ClassVar[tuple[str, ...]] = ("question", "context", "answers")
    column_layout: ClassVar[str] = "question_answering"
    optional_columns: ClassVar[tuple[str, ...]] = ("title",)
    answer: ClassVar[str] = "span"
    group_by_text: ClassVar[bool] = True
    sample_by: ClassVar[tuple[str, ...]] = ("question", "context")  # whole articles are far from a number asked for
    metric: ClassVar[str] = "overlap"
    correct_columns: ClassVar[slice] = slice(1, 2)
    description: ClassVar[str] = "the stretch of a text that answers a question"

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        """Rows on the same article (its title, or else the same text) fall into the same split."""
        columns = self.columns(table)
        question, context = (as_text(table, columns[role], self.source()) for role in ("question", "context"))
        self.reject_empty(part, pa.table([question, context], [columns["question"], columns["context"]]))
        answers = table.column(columns["answers"]).to_pylist()
        said = [_said(answer, f"{self.source()}: column '{columns['answers']}'") for answer in answers]
        starts = [
            _start(answer, texts, text) for answer, texts, text in zip(answers, said, context.to_pylist(), strict=True)
        ]
        kept = as_text(table, "title", self.source()) if "title" in table.column_names else context
        given = {"question": question, "context": context, "answers": pa.array(said, pa.list_(pa.string()))}
        return pa.table({"text": kept, **given, "start": pa.array(starts, pa.int64())})

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
        """(windows, 2): first and last token of the first right answer; 0, the first mark, where the window lacks it. An
        answer that its text lacks teaches nothing: that there is none would be wrong."""
        starts, answers = rows.column("start").to_pylist(), self.gold(rows)
        found = np.zeros((len(encoded.metadata), 2), dtype=np.int64)
        for number, (owner, window) in enumerate(zip(encoded.input_index, encoded.metadata, strict=True)):
            if answers[owner]:
                start, end = starts[owner], starts[owner] + len(answers[owner][0])
                found[number] = tokens_of(window, start, end) if start >= 0 else (NO_LABEL, NO_LABEL)
        return found

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Mean of the cross-entropies of first and last token over the tokens of the window."""
        first_and_last = apart(logits, batch).flatten(0, 1)  # (2 × windows, tokens)
        targets = batch.targets.flatten()
        summed = functional.cross_entropy(first_and_last, targets, ignore_index=NO_LABEL, reduction="sum")
        return summed / torch.clamp((targets != NO_LABEL).sum(), min=1)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return soft_cross_entropy(apart(student, batch), apart(teacher, batch), temperature)

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        both = [(exact(said, gold), overlap(said, gold)) for said, gold in zip(values, self.gold(rows), strict=True)]
        return np.array(both, dtype=np.float64)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        return {"overlap": float(example_stats[:, 1].mean()), "exact": float(example_stats[:, 0].mean())}

    def tuned(self, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> AnswerType:
        """With the threshold for "no answer" that scores best on the validation rows."""
        answer_type = self.answer_type
        if not answer_type.allow_no_answer:
            return answer_type
        found, golds = answer_type.best_spans(logits, rows), self.gold(table)
        contexts = table.column("context").to_pylist()
        if_answer = np.array(
            [overlap(text[one.start : one.end], gold) for text, one, gold in zip(contexts, found, golds, strict=True)]
        )
        if_none = np.array([float(not gold) for gold in golds])
        threshold, _ = best_threshold(if_answer, if_none, np.array([one.none - one.score for one in found]))
        return answer_type.model_copy(update={"threshold": float(np.clip(threshold, -1e6, 1e6))})

    def parse_value(self, text: Any) -> Value:
        return "" if text is None else str(text)


def apart(logits: Tensor, batch: Batch) -> Tensor:
    """(windows, tokens, 2) to (windows, 2, tokens), padding never chosen."""
    return logits.transpose(1, 2).masked_fill(~batch.mask.bool()[:, None, :], FAR)


def tokens_of(window: Window, start: int, end: int) -> tuple[int, int]:
    """First and last token, in the sequence, of the characters [start, end); (0, 0) where they are not all in the window."""
    starts, ends = window.offsets[:, 0], window.offsets[:, 1]
    if not len(starts) or start < starts[0] or end > ends[-1]:
        return 0, 0
    first, last = np.searchsorted(ends, start, side="right"), np.searchsorted(starts, end, side="left") - 1
    return (window.first + int(first), window.first + int(last)) if first <= last else (0, 0)


def _said(answer: Any, where: str) -> list[str]:
    """The right answers of a row, each once: {text: [...]}, a list of texts or of {text}, a text, or nothing."""
    if isinstance(answer, dict):
        answer = answer.get("text")
    if answer is None or isinstance(answer, str):
        return [answer] if answer else []
    if not isinstance(answer, list):
        raise InputError(f"{where} holds {type(answer).__name__}, not answers ({{text, answer_start}} lists, or texts)")
    texts = (one.get("text") if isinstance(one, dict) else one for one in answer)
    return list(dict.fromkeys(str(text) for text in texts if text))  # SQuAD's copies write "" for no answer


def _start(answer: Any, said: list[str], text: str) -> int:
    """Where the first right answer begins: as given, if it is there, else where it is found; -1 where it is not."""
    first_of = answer[0] if isinstance(answer, list) and answer else answer
    given = first_of.get("answer_start") if isinstance(first_of, dict) else None
    first = (given[0] if isinstance(given, list) and given else given) if said else None
    if isinstance(first, int) and text[first : first + len(said[0])] == said[0]:
        return first
    return text.find(said[0]) if said else -1
