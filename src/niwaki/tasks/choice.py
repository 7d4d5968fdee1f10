"""Your own beginnings, each with several endings of which one is right."""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.answers._answer_type import EncodedInputs, Input, Value
from niwaki.core.errors import InputError, first_line
from niwaki.core.settings import setting
from niwaki.models.criteria import ChoiceCrossEntropy
from niwaki.tasks._declarations import TableFormat
from niwaki.tasks._metrics import accuracy, all_labels_wrong
from niwaki.tasks._scorer import Scorer
from niwaki.tasks._tables import as_text, each_of
from niwaki.tasks._task import Task


class Choice(Task):
    text: str = setting("", "column that holds the beginning; none guesses")
    endings: list[str] | str = setting("", "columns that hold one ending each, or one column of lists; none guesses")
    label: str = setting("", "column that holds the number of the right ending, from 0; none guesses")

    table: ClassVar[TableFormat] = TableFormat("choice", ("text", "endings", "label"))
    answer: ClassVar[str] = "choice"
    metric: ClassVar[str] = "accuracy"
    description: ClassVar[str] = "which of several endings fits a beginning"

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        columns, source = self.data.columns(table), self.data.source
        text = as_text(table, columns["text"], source)
        endings = _endings(table, columns["endings"], source)
        filled = {columns["text"]: text, "endings": endings, columns["label"]: table.column(columns["label"])}
        self.data.reject_empty(part, pa.table(filled))
        self.data.reject_empty(part, pa.table({"endings": compute.list_flatten(endings)}))
        counts = set(compute.unique(compute.list_value_length(endings)).to_pylist())
        if len(counts) != 1 or min(counts) < 2:
            raise InputError(
                f"{source}: the {part} rows have {sorted(counts)} endings; all must have as many, two or more"
            )
        label = _numbers(table, columns["label"], source)
        if not 0 <= compute.min(label).as_py() <= compute.max(label).as_py() < min(counts):
            raise InputError(f"{source}: column '{columns['label']}' must hold numbers from 0 to {min(counts) - 1}")
        return pa.table({"text": text, "endings": endings, "label": label})

    @property
    def labels(self) -> list[str]:
        return ["score"]

    def inputs(self, rows: pa.Table) -> list[Input]:
        return list(zip(rows.column("text").to_pylist(), rows.column("endings").to_pylist(), strict=True))

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("label").to_pylist()

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> np.ndarray:
        return rows.column("label").to_numpy().astype(np.int64)

    @cached_property
    def criterion(self) -> ChoiceCrossEntropy:
        return ChoiceCrossEntropy()

    @cached_property
    def scorer(self) -> "ChoiceScorer":
        return ChoiceScorer(self)


class ChoiceScorer(Scorer[Choice]):
    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        return np.stack([np.asarray(values, dtype=np.int64), rows.column("label").to_numpy()], axis=1)

    def errors(self, example_stats: np.ndarray) -> np.ndarray:
        predicted, gold = example_stats.T
        return (predicted != gold).astype(float)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        return {"accuracy": accuracy(example_stats[:, 0], example_stats[:, 1])}

    def all_wrong(self, example_stats: np.ndarray) -> np.ndarray:
        return all_labels_wrong(example_stats)

    def parse_value(self, cell: object) -> Value:
        if not isinstance(cell, str | int | float):
            raise TypeError(f"{type(cell).__name__} is not the number of an ending")
        return int(cell)


def _numbers(table: pa.Table, column: str, where: object) -> pa.ChunkedArray:
    try:
        return table.column(column).cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"{where}: column '{column}' must hold numbers of endings, counted from 0 ({first_line(error)})"
        ) from None


def _endings(table: pa.Table, columns: list[str] | str, where: object) -> pa.ChunkedArray:
    """A list of texts for each row."""
    names = each_of(columns, table)
    if len(names) == 1:
        try:
            return table.column(names[0]).cast(pa.list_(pa.string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"{where}: column '{names[0]}' does not hold lists; name the columns of all endings (data.endings)"
            ) from None
    rows = zip(*(as_text(table, name, where).to_pylist() for name in names), strict=True)
    return pa.chunked_array([pa.array([list(row) for row in rows], pa.list_(pa.string()))])
