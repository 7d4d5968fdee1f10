"""Your own texts, or pairs of texts, each with one label of several."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import torch
from pyarrow import compute
from torch import Tensor
from torch.nn import functional

from niwaki.answers._answer_type import EncodedInputs, Value
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.data.scratch import zeros
from niwaki.data.spill import gather
from niwaki.models.distillation_losses import soft_cross_entropy
from niwaki.models.forward import Batch
from niwaki.tasks._metrics import accuracy, all_labels_wrong, f1_binary, f1_macro, matthews
from niwaki.tasks._tables import as_text
from niwaki.tasks._task import NO_LABEL
from niwaki.tasks._text_task import TextTask

Measure = Callable[[np.ndarray, np.ndarray], float]
MEASURES: dict[str, Measure] = {
    "accuracy": accuracy,
    "f1": f1_binary,  # of the second label
    "f1_macro": lambda predicted, gold: f1_macro(predicted, gold, int(max(predicted.max(), gold.max())) + 1),
    "matthews": matthews,
}
MAX_LABELS = 10_000
MISSING = {"nan", "<na>"}


class Classification(TextTask):
    balanced: bool = setting(False, "whether rare labels weigh more in the loss, by how rare they are")

    column_layout: ClassVar[str] = "classification"
    answer: ClassVar[str] = "label"
    stratify_by: ClassVar[str] = "label"
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "f1_macro")  # `mean`, as a metric, is the mean of them
    label_names: ClassVar[tuple[str, ...]] = ()  # of a named task: what its numbers 0, 1, 2 … are called
    description: ClassVar[str] = "single-label classification of texts or pairs"

    def read_labels(self, part: str, table: pa.Table, column: str) -> pa.ChunkedArray:
        labels = as_text(table, column, self.source())
        if self.label_names and compute.all(compute.utf8_is_digit(labels)).as_py():
            labels = self._named(labels, column)
        self.reject_empty(part, pa.table({column: labels}))
        names = {name for chunk in labels.chunks for name in chunk.unique().to_pylist()}
        missing = sorted(name for name in names if name.strip().lower() in MISSING)
        if missing:
            raise InputError(
                f"{self.source()}: column '{column}' holds '{missing[0]}', as programs write a missing value; drop those rows, or give the label another name"
            )
        return labels if all(name == name.strip() for name in names) else trimmed(labels)

    def _named(self, numbers: pa.ChunkedArray, column: str) -> pa.ChunkedArray:
        values = compute.cast(numbers, pa.int64())
        if compute.max(values).as_py() >= len(self.label_names):
            raise InputError(
                f"{self.source()}: column '{column}' has numbers over {len(self.label_names) - 1}, which is the last label"
            )
        return compute.take(pa.array(self.label_names), values)

    @cached_property
    def _labels(self) -> list[str]:
        found = set(compute.unique(self._splits["train"].column("label")).to_pylist())
        if self.label_names and found <= set(self.label_names):
            return list(self.label_names)
        if not 2 <= len(found) <= MAX_LABELS:
            raise InputError(
                f"{self.source()}: the label column has {len(found)} different labels in the train rows, "
                f"{'at least 2 are needed' if len(found) < 2 else 'which are no classes; take task regression, or name another column (data.label)'}"
            )
        return sorted(found)

    @property
    def labels(self) -> list[str]:
        return self._labels

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("label").to_pylist()

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> np.ndarray:
        names, labels = pa.array(self.labels), rows.column("label")
        found, start = zeros(rows.num_rows, np.int64), 0
        for chunk in labels.chunks:
            numbers = compute.index_in(chunk, names)
            if numbers.null_count:
                unseen = compute.filter(chunk, compute.is_null(numbers))[0].as_py()
                raise InputError(
                    f"{self.source()}: label '{unseen}' is not among the train rows' labels ({', '.join(self.labels[:8])})"
                )
            found[start : start + len(chunk)] = numbers.to_numpy()
            start += len(chunk)
        return found

    @cached_property
    def _weights(self) -> Tensor | None:
        """Rows ÷ (labels × rows of the label), as scikit-learn's "balanced"."""
        if not self.balanced:
            return None
        train = self.splits()["train"]
        counts = np.bincount(self._numbers(self.gold(train)), minlength=len(self.labels)).clip(min=1)
        return torch.tensor(train.num_rows / (len(self.labels) * counts), dtype=torch.float32)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy over the rows that have a label; 0, with a gradient of 0, where none has."""
        weights = self._weights.to(logits.device) if self._weights is not None else None
        summed = functional.cross_entropy(logits, batch.targets, weights, ignore_index=NO_LABEL, reduction="sum")
        return summed / torch.clamp((batch.targets != NO_LABEL).sum(), min=1)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return soft_cross_entropy(student, teacher, temperature)

    def _numbers(self, values: Sequence[Value]) -> np.ndarray:
        """Labels as numbers; one that is not known has the number after the last."""
        number = {name: k for k, name in enumerate(self.labels)}
        return np.array([number.get(value, len(number)) for value in values], dtype=np.int64)

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """The label said and the right one, as numbers. Where neither is known, what was said counts as wrong."""
        said, gold = self._numbers(values), self._numbers(self.gold(rows))
        unknown = len(self.labels)
        return np.stack([np.where((said == unknown) & (gold == unknown), unknown + 1, said), gold], axis=1)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        found = {name: MEASURES[name](example_stats[:, 0], example_stats[:, 1]) for name in self.metrics}
        return {"mean": float(np.mean(list(found.values()))), **found} if self.metric == "mean" else found

    def all_wrong(self, example_stats: np.ndarray) -> np.ndarray:
        return all_labels_wrong(example_stats)

    def parse_value(self, text: Any) -> Value:
        named = str(text)
        return self.label_names[int(named)] if named.isdigit() and int(named) < len(self.label_names) else named


def trimmed(labels: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without spaces around them, which are no part of a name."""
    texts = (pa.record_batch([compute.utf8_trim_whitespace(chunk)], ["label"]) for chunk in labels.chunks)
    return gather(texts).column(0)
