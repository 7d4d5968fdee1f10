"""Your own texts, or pairs of texts, each with a number."""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.answers._answer_type import EncodedInputs, Value
from niwaki.answers.number import Number
from niwaki.core.errors import InputError, first_line
from niwaki.models.criteria import SquaredError
from niwaki.models.forward import NO_LABEL
from niwaki.tasks._declarations import TableFormat
from niwaki.tasks._metrics import pearson, spearman
from niwaki.tasks._scorer import Scorer
from niwaki.tasks._tables import as_text
from niwaki.tasks._text_task import ROLES, TextTask

LARGEST = 1e100  # squares of larger numbers overflow


class Regression(TextTask):
    table: ClassVar[TableFormat] = TableFormat("regression", ROLES)
    answer: ClassVar[str] = "number"
    metric: ClassVar[str] = "mean"  # of the two correlations
    description: ClassVar[str] = "a number for a text or a pair"

    def read_labels(self, part: str, table: pa.Table, column: str) -> pa.ChunkedArray:
        source = self.data.source
        self.data.reject_empty(part, pa.table({column: as_text(table, column, source)}))
        cells = table.column(column)
        try:
            numbers = compute.utf8_trim_whitespace(cells) if pa.types.is_string(cells.type) else cells
            numbers = numbers.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise InputError(
                f"{source}: column '{column}' is not all numbers ({first_line(error)}); fix it, or take task 'classification'"
            ) from None
        if not (np.abs(numbers.to_numpy()) <= LARGEST).all():
            raise InputError(
                f"{source}: column '{column}' has missing numbers, or some over {LARGEST:g}; fix or drop them"
            )
        return numbers

    @property
    def labels(self) -> list[str]:
        return ["value"]

    @cached_property
    def answer_type(self) -> Number:
        """Standardized by the mean and standard deviation of the train rows."""
        numbers = self.splits()["train"].column("label").to_numpy()
        # rounding can give equal numbers a standard deviation above 0
        scale = float(numbers.std()) if numbers.min() < numbers.max() else 1.0
        return Number(mean=float(numbers.mean()), scale=scale or 1.0)

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> np.ndarray:
        standard = (rows.column("label").to_numpy() - self.answer_type.mean) / self.answer_type.scale
        return np.clip(standard, NO_LABEL + 1, None).astype(np.float32)  # no number may equal NO_LABEL

    @cached_property
    def criterion(self) -> SquaredError:
        return SquaredError()

    @cached_property
    def scorer(self) -> "RegressionScorer":
        return RegressionScorer(self)


class RegressionScorer(Scorer[Regression]):
    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        return np.stack([np.asarray(values, dtype=np.float64), rows.column("label").to_numpy()], axis=1)

    def errors(self, example_stats: np.ndarray) -> np.ndarray:
        """Squared differences of standard scores, whose mean is 2 × (1 - Pearson's correlation): the metrics ignore scale and mean."""
        spread = example_stats.std(axis=0)
        predicted, gold = ((example_stats - example_stats.mean(axis=0)) / np.where(spread > 0, spread, 1)).T
        return np.asarray((predicted - gold) ** 2)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        both = {"pearson": pearson(*example_stats.T), "spearman": spearman(*example_stats.T)}
        error = float(np.sqrt(np.square(example_stats[:, 0] - example_stats[:, 1]).mean()))
        return {"mean": (both["pearson"] + both["spearman"]) / 2, **both, "rmse": error}

    def parse_value(self, cell: object) -> Value:
        if not isinstance(cell, str | int | float):
            raise TypeError(f"{type(cell).__name__} is not a number")
        return float(cell)
