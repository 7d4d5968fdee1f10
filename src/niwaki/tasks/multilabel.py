"""Your own texts, or pairs of texts, each with any number of labels."""

from collections.abc import Sequence
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
from niwaki.data.columns import guess_columns
from niwaki.models.distillation_losses import soft_binary
from niwaki.models.forward import Batch
from niwaki.tasks._metrics import accuracy_many, f1_macro_many, f1_micro_many
from niwaki.tasks._tables import as_text
from niwaki.tasks._task import NO_LABEL
from niwaki.tasks._text_task import TextTask


class Multilabel(TextTask):
    separator: str = setting(
        "", "what stands between labels, where a cell holds them as one text; none guesses, or takes |"
    )

    column_layout: ClassVar[str] = "multilabel"
    answer: ClassVar[str] = "labels"
    metric: ClassVar[str] = "f1_micro"
    description: ClassVar[str] = "any number of labels for a text or a pair"

    _mark: str = ""  # the separator as guessed from the train rows: the few of a test may not show it

    def parts(self) -> dict[str, pa.Table]:
        found = super().parts()
        first = found["train"] if "train" in found else next(iter(found.values()))
        self._mark = self.separator or guess_columns(first, self.columns(first), self.column_layout).separator or "|"
        return found

    def read_labels(self, part: str, table: pa.Table, column: str) -> pa.ChunkedArray:
        """Lists of names. A row may have none."""
        kind = table.schema.field(column).type
        if not pa.types.is_list(kind):
            cells = compute.fill_null(as_text(table, column, self.source()), "")
            lists = [cut(cell, self._mark) for cell in cells.to_pylist()]
            return pa.chunked_array([pa.array(lists, pa.list_(pa.string()))])
        lists = table.column(column).cast(pa.list_(pa.string()))
        self.reject_empty(part, pa.table({column: compute.list_flatten(lists)}))
        return compute.fill_null(lists, [])

    @cached_property
    def labels(self) -> list[str]:
        found = set(compute.unique(compute.list_flatten(self.splits()["train"].column("label"))).to_pylist())
        if not found:
            raise InputError(f"{self.source()}: no train row has a label; name another column (data.label)")
        return sorted(found)

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("label").to_pylist()

    def _table(self, values: Sequence[Value]) -> np.ndarray:
        """(rows, labels) of 0 and 1. A label that no train row has is never said, so in the gold it would be missed: refused."""
        number = {name: k for k, name in enumerate(self.labels)}
        table = np.zeros((len(values), len(number)), dtype=np.float32)
        for row, names in enumerate(values):
            for name in names:
                if name not in number:
                    raise InputError(
                        f"{self.source()}: label '{name}' is not among the train rows' labels ({', '.join(self.labels[:8])})"
                    )
                table[row, number[name]] = 1
        return table

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> np.ndarray:
        return self._table(self.gold(rows))

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Binary cross-entropy, summed over the labels, mean over the rows that have targets."""
        real = (batch.targets != NO_LABEL).float()
        each = functional.binary_cross_entropy_with_logits(logits, batch.targets.clamp(min=0), reduction="none")
        return (each * real).sum() / torch.clamp(real.amax(1).sum(), min=1)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return soft_binary(student, teacher, temperature)

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        return np.concatenate([self._table(values), self._table(self.gold(rows))], axis=1) > 0

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        predicted, gold = np.split(example_stats, 2, axis=1)
        metrics = {"f1_micro": f1_micro_many, "f1_macro": f1_macro_many, "accuracy": accuracy_many}
        return {name: measure(predicted, gold) for name, measure in metrics.items()}

    def all_wrong(self, example_stats: np.ndarray) -> np.ndarray:
        predicted, gold = np.split(example_stats, 2, axis=1)
        return np.concatenate([predicted & ~gold, gold], axis=1)

    def parse_value(self, text: Any) -> Value:
        return cut(text, self.separator or self._mark or "|") if isinstance(text, str) else list(text or [])


def cut(cell: str, separator: str) -> list[str]:
    return [name.strip() for name in cell.split(separator) if name.strip()]
