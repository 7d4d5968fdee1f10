"""Supervised learning: the task's loss against its labels, scored by its primary metric."""

import pyarrow as pa
from tokenizers import Tokenizer
from torch import Tensor

from niwaki.models.features import Features
from niwaki.models.forward import Batch, Outputs
from niwaki.models.head import Head
from niwaki.objectives._objective import Objective, Validation


class Supervised(Objective):
    @property
    def head(self) -> Head:
        return self.task.head

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features:
        return self.task.features(rows, tokenizer, max_tokens)

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        return self.task.criterion.loss(outputs.logits.float(), batch)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return self.task.criterion.soft_loss(student, teacher, batch, temperature)

    def score(self, validation: Validation) -> float:
        table = self.task.splits()["validation"]
        return self.task.scorer.score_logits(validation.logits(), validation.rows, table)
