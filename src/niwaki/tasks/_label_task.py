"""Base of tasks whose rows have one label of several, whatever is read."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
import torch
from pyarrow import compute
from torch import Tensor

from niwaki.answers._answer_type import EncodedInputs, Value
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.data.scratch import zeros
from niwaki.data.spill import gather
from niwaki.models.criteria import CrossEntropy
from niwaki.tasks._metrics import accuracy, all_labels_wrong, f1_binary, f1_macro, matthews
from niwaki.tasks._scorer import Scorer
from niwaki.tasks._tables import as_text
from niwaki.tasks._task import Task

Measure = Callable[[np.ndarray, np.ndarray], float]
MEASURES: dict[str, Measure] = {
    "accuracy": accuracy,
    "f1": f1_binary,  # of the second label
    "f1_macro": lambda predicted, gold: f1_macro(predicted, gold, int(max(predicted.max(), gold.max())) + 1),
    "matthews": matthews,
}
MAX_LABELS = 10_000
MISSING = {"nan", "<na>"}


class LabelTask(Task):
    classes: list[str] = setting(
        [], "names of the labels 0, 1, 2 … of a model's head; none takes those of the train rows"
    )
    balanced: bool = setting(False, "whether rare labels weigh more in the loss, by how rare they are")

    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "f1_macro")  # the metric `mean` is the mean of these
    label_names: ClassVar[tuple[str, ...]] = ()  # of a published data set: the names of its labels 0, 1, 2 …

    def read_labels(self, part: str, table: pa.Table, column: str) -> pa.ChunkedArray:
        labels = as_text(table, column, self.data.source)
        if self.known_labels and compute.all(compute.utf8_is_digit(labels)).as_py():
            labels = self._named(labels, column)
        self.data.reject_empty(part, pa.table({column: labels}))
        names = {name for chunk in labels.chunks for name in chunk.unique().to_pylist()}
        missing = sorted(name for name in names if name.strip().lower() in MISSING)
        if missing:
            raise InputError(
                f"{self.data.source}: column '{column}' holds '{missing[0]}', as programs write a missing value; drop those rows, or give the label another name"
            )
        return labels if all(name == name.strip() for name in names) else trimmed(labels)

    def _named(self, numbers: pa.ChunkedArray, column: str) -> pa.ChunkedArray:
        values = compute.cast(numbers, pa.int64())
        if compute.max(values).as_py() >= len(self.known_labels):
            raise InputError(
                f"{self.data.source}: column '{column}' has numbers over {len(self.known_labels) - 1}, which is the last label"
            )
        return compute.take(pa.array(self.known_labels), values)

    @property
    def known_labels(self) -> Sequence[str]:
        """Labels whose names are known before the rows are read."""
        return self.classes or self.label_names

    @property
    def found_labels(self) -> list[str]:
        """Those of the train rows."""
        return sorted(compute.unique(self.splits()["train"].column("label")).to_pylist())

    @cached_property
    def labels(self) -> list[str]:
        found = self.found_labels
        if self.known_labels and set(found) <= set(self.known_labels):
            return list(self.known_labels)
        if not 2 <= len(found) <= MAX_LABELS:
            raise InputError(
                f"{self.data.source}: the label column has {len(found)} different labels in the train rows, "
                f"{'at least 2 are needed' if len(found) < 2 else 'which are no classes; take task regression, or name another column (data.label)'}"
            )
        return found

    def label_ids(self, names: Sequence[Value]) -> np.ndarray:
        """Labels as numbers; an unknown label has the number after the last."""
        number = {name: k for k, name in enumerate(self.labels)}
        return np.array([number.get(name, len(number)) for name in names], dtype=np.int64)

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> np.ndarray:
        names, labels = pa.array(self.labels), rows.column("label")
        found, start = zeros(rows.num_rows, np.int64), 0
        for chunk in labels.chunks:
            numbers = compute.index_in(chunk, names)
            if numbers.null_count:
                unseen = compute.filter(chunk, compute.is_null(numbers))[0].as_py()
                raise InputError(
                    f"{self.data.source}: label '{unseen}' is not among the train rows' labels ({', '.join(self.labels[:8])})"
                )
            found[start : start + len(chunk)] = numbers.to_numpy()
            start += len(chunk)
        return found

    @cached_property
    def criterion(self) -> CrossEntropy:
        return CrossEntropy(self._label_weights() if self.balanced else None)

    def _label_weights(self) -> Tensor:
        """Rows ÷ (labels × rows of the label), as scikit-learn's "balanced"."""
        train = self.splits()["train"]
        counts = np.bincount(self.label_ids(self.gold(train)), minlength=len(self.labels)).clip(min=1)
        return torch.tensor(train.num_rows / (len(self.labels) * counts), dtype=torch.float32)

    @cached_property
    def scorer(self) -> "LabelScorer":
        return LabelScorer(self)


class LabelScorer(Scorer[LabelTask]):
    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Predicted and gold label as numbers. If neither is a known label, the prediction counts as wrong."""
        predicted, gold = self.task.label_ids(values), self.task.label_ids(self.task.gold(rows))
        unknown = len(self.task.labels)
        both_unknown = (predicted == unknown) & (gold == unknown)
        return np.stack([np.where(both_unknown, unknown + 1, predicted), gold], axis=1)

    def errors(self, example_stats: np.ndarray) -> np.ndarray:
        predicted, gold = example_stats.T
        return (predicted != gold).astype(float)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        found = {name: MEASURES[name](example_stats[:, 0], example_stats[:, 1]) for name in self.task.metrics}
        return {"mean": float(np.mean(list(found.values()))), **found} if self.task.metric == "mean" else found

    def all_wrong(self, example_stats: np.ndarray) -> np.ndarray:
        return all_labels_wrong(example_stats)

    def parse_value(self, cell: object) -> Value:
        text, names = str(cell), self.task.known_labels
        return names[int(text)] if text.isdigit() and int(text) < len(names) else text


def trimmed(labels: pa.ChunkedArray) -> pa.ChunkedArray:
    """Labels without surrounding spaces."""
    texts = (pa.record_batch([compute.utf8_trim_whitespace(chunk)], ["label"]) for chunk in labels.chunks)
    return gather(texts).column(0)
