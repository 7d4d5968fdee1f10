"""One model's answers to the rows of a task, with what the comparison needs of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import EncodedInputs, Input, Value
from niwaki.answers._capabilities import ChoosesOne, HasConfidence, confidence_of
from niwaki.engines.cascade import Cascade
from niwaki.engines.predictor import Predictor
from niwaki.tasks._task import Task


@dataclass(frozen=True)
class Answered:
    """`logits` are those of the candidates, of answers that are one of several. A cascade shows neither logits nor confidence."""

    name: str
    predictor: Predictor
    encoded: EncodedInputs
    values: list[Value]
    example_stats: np.ndarray
    credit: np.ndarray  # (rows,) higher is better
    confidence: np.ndarray | None  # (rows,) from 0 to 1
    logits: np.ndarray | None  # (rows, candidates)

    def same(self, first: Value, second: Value) -> bool:
        return self.predictor.answer_type.same(first, second)


def answer(predictor: Predictor, name: str, task: Task, table: pa.Table, inputs: Sequence[Input]) -> Answered:
    kind, encoded = predictor.answer_type, predictor.tokenize(inputs)
    if isinstance(predictor, Cascade):
        values = predictor.values(inputs)
        stats = task.scorer.example_stats(values, table)
        return Answered(name, predictor, encoded, values, stats, row_credit(task, stats), None, None)
    logits = predictor.logits(encoded)
    values = predictor.decode_answers(logits, encoded, inputs, bare=True)
    stats = task.scorer.example_stats(values, table)
    sure = confidence_of(kind, logits, encoded, inputs, predictor.labels) if isinstance(kind, HasConfidence) else None
    candidates = kind.candidate_logits(logits, encoded) if isinstance(kind, ChoosesOne) else None
    return Answered(name, predictor, encoded, values, stats, row_credit(task, stats), sure, candidates)


def row_credit(task: Task, example_stats: np.ndarray) -> np.ndarray:
    """(rows,) how good the answer of each row is: minus its error where the task defines one, else the task's metric of the row alone."""
    errors = task.scorer.errors(example_stats)
    if errors is not None:
        return -errors
    rows = range(len(example_stats))
    return np.array([task.scorer.scores(example_stats[row : row + 1])[task.metric] for row in rows], dtype=np.float64)
