"""Supervised learning: the task's loss against its labels, scored by its primary metric."""

import numpy as np
from torch import Tensor

from niwaki.models.forward import Batch, Outputs
from niwaki.objectives._objective import Objective, Validation


class Supervised(Objective):
    def check(self) -> None:
        _ = self.task.criterion

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        return self.task.criterion.loss(outputs.logits.float(), batch)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return self.task.criterion.soft_loss(student, teacher, batch, temperature)

    def score(self, validation: Validation) -> float:
        table = self.task.splits()["validation"]
        return self.task.scorer.score_logits(validation.logits(), validation.rows, table)

    def errors(self, validation: Validation) -> np.ndarray | None:
        table = self.task.splits()["validation"]
        return self.task.scorer.logit_errors(validation.logits(), validation.rows, table)
