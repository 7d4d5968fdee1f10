"""What tasks share whose answer is a tag for every word of a sentence, in a column `tags`."""

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor
from torch.nn import functional

from niwaki.answers._answer_type import EncodedInputs, Value
from niwaki.core.errors import InputError
from niwaki.data.ragged import Ragged
from niwaki.models.distillation_losses import soft_cross_entropy
from niwaki.models.forward import Batch
from niwaki.tasks._task import NO_LABEL, Task


class WordTask(Task):
    def lists(self, table: pa.Table, column: str) -> pa.ChunkedArray:
        try:
            return table.column(column).cast(pa.list_(pa.string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"{self.source()}: column '{column}' does not hold lists; give jsonl or parquet with a list per sentence"
            ) from None

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("tags").to_pylist()

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> Ragged:
        """The tag at the first token of its word; a tag that no train row has teaches nothing."""
        number = {name: k for k, name in enumerate(self.labels)}
        gold, flat = self.gold(rows), np.full(len(encoded.ids.values), NO_LABEL, dtype=np.int32)
        for sequence, (owner, (first, places, *_)) in enumerate(
            zip(encoded.input_index, encoded.metadata, strict=True)
        ):
            numbers = np.array([number.get(tag, NO_LABEL) for tag in gold[owner][first : first + len(places)]])
            flat[encoded.ids.starts[sequence] + places[places >= 0]] = numbers[places >= 0]
        return Ragged(flat, encoded.ids.starts)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        summed = functional.cross_entropy(
            logits.flatten(0, 1), batch.targets.flatten(), ignore_index=NO_LABEL, reduction="sum"
        )
        return summed / torch.clamp((batch.targets != NO_LABEL).sum(), min=1)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return soft_cross_entropy(student, teacher, temperature, (batch.targets != NO_LABEL).float())
