"""Your own texts, or pairs of texts, each with a number."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import torch
from pyarrow import compute
from torch import Tensor

from niwaki.answers._answer_type import EncodedInputs, Value
from niwaki.answers.number import Number
from niwaki.core.errors import InputError, first_line
from niwaki.models.distillation_losses import squared
from niwaki.models.forward import Batch
from niwaki.tasks._metrics import pearson, spearman
from niwaki.tasks._tables import as_text
from niwaki.tasks._task import NO_LABEL
from niwaki.tasks._text_task import TextTask

LARGEST = 1e100  # squares of larger numbers are none


class Regression(TextTask):
    column_layout: ClassVar[str] = "regression"
    answer: ClassVar[str] = "number"
    metric: ClassVar[str] = "mean"  # of the two correlations
    description: ClassVar[str] = "a number for a text or a pair"

    def read_labels(self, part: str, table: pa.Table, column: str) -> pa.ChunkedArray:
        self.reject_empty(part, pa.table({column: as_text(table, column, self.source())}))
        try:
            given = table.column(column)
            numbers = (compute.utf8_trim_whitespace(given) if pa.types.is_string(given.type) else given).cast(
                pa.float64()
            )
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise InputError(
                f"{self.source()}: column '{column}' is not all numbers ({first_line(error)}); mend it, or take task 'classification'"
            ) from None
        if not (np.abs(numbers.to_numpy()) <= LARGEST).all():
            raise InputError(
                f"{self.source()}: column '{column}' has missing numbers, or some over {LARGEST:g}; mend or drop them"
            )
        return numbers

    @property
    def labels(self) -> list[str]:
        return ["value"]

    @cached_property
    def answer_type(self) -> Number:
        """In standard units of the train rows; where all have the same number, in its own."""
        numbers = self.splits()["train"].column("label").to_numpy()
        scale = (
            float(numbers.std()) if numbers.min() < numbers.max() else 1.0
        )  # equal ones may have a spread, of rounding
        return Number(mean=float(numbers.mean()), scale=scale or 1.0)

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("label").to_pylist()

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> np.ndarray:
        standard = (rows.column("label").to_numpy() - self.answer_type.mean) / self.answer_type.scale
        return np.clip(standard, NO_LABEL + 1, None).astype(np.float32)  # NO_LABEL stays apart

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        real = batch.targets != NO_LABEL
        squares = (logits[:, 0] - batch.targets).square() * real
        return squares.sum() / torch.clamp(real.sum(), min=1)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return squared(student, teacher)

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        return np.stack([np.asarray(values, dtype=np.float64), rows.column("label").to_numpy()], axis=1)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        both = {"pearson": pearson(*example_stats.T), "spearman": spearman(*example_stats.T)}
        error = float(np.sqrt(np.square(example_stats[:, 0] - example_stats[:, 1]).mean()))
        return {"mean": (both["pearson"] + both["spearman"]) / 2, **both, "rmse": error}

    def parse_value(self, text: Any) -> Value:
        return float(text)
