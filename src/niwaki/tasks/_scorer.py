"""Scoring: answers to per-example statistics, statistics to metrics.

Intervals resample the statistics of rows, so a bootstrap never looks at texts.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import EncodedInputs, Value
from niwaki.tasks._task import Task, tuned_answer_type

SomeTask = TypeVar("SomeTask", bound=Task)


class Scorer(ABC, Generic[SomeTask]):
    correct_columns: ClassVar[slice] = slice(0, 1)  # columns of the statistics that count what is correct

    def __init__(self, task: SomeTask) -> None:
        self.task = task

    @abstractmethod
    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """(rows, …) the numbers from which all metrics are computed."""

    @abstractmethod
    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        """All metrics; the task's primary `metric` is among them."""

    def score_logits(self, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> float:
        """The primary metric of the logits of validation rows, after thresholds are tuned on them."""
        return self.scores(self._logit_stats(logits, rows, table))[self.task.metric]

    def logit_errors(self, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> np.ndarray | None:
        """The error of each validation row, from the same answers; None if the task defines none."""
        return self.errors(self._logit_stats(logits, rows, table))

    def _logit_stats(self, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> np.ndarray:
        task = self.task
        values = tuned_answer_type(task, logits, rows, table).values(logits, rows, task.inputs(table), task.labels)
        return self.example_stats(values, table)

    def errors(self, example_stats: np.ndarray) -> np.ndarray | None:
        """(rows,) how wrong the answer of each row is, for tasks where rows can be compared one by one."""
        return None

    def all_wrong(self, example_stats: np.ndarray) -> np.ndarray:
        """The statistics of the same rows if every answer were wrong."""
        wrong = example_stats.copy()
        wrong[:, self.correct_columns] = 0
        return wrong

    def parse_value(self, cell: object) -> Value:
        """An answer from a cell of a predictions file."""
        return cell

    def note(self) -> str:
        """What readers of the scores must know about the metrics."""
        return ""
