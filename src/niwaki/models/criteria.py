"""Training losses on logits, one class for each shape of targets: against labels and against a teacher's logits."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.models.distillation_losses import soft_binary, soft_cross_entropy, squared
from niwaki.models.forward import NO_LABEL, Batch

MASKED_LOGIT = -1e4  # finite, so that the logits of teacher and student can be subtracted


class Criterion(Protocol):
    """Rows and tokens whose target is NO_LABEL do not count; a batch without any label gives 0 with a gradient of 0."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Loss against the targets of the batch."""

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        """Distance between the logits of a student and those of its teacher."""


@dataclass(frozen=True)
class CrossEntropy:
    """One label per row: logits (batch, labels), targets (batch,)."""

    weights: Tensor | None = None  # (labels,)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        weights = self.weights.to(logits.device) if self.weights is not None else None
        total = functional.cross_entropy(logits, batch.targets, weights, ignore_index=NO_LABEL, reduction="sum")
        return total / _count(batch.targets)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return soft_cross_entropy(student, teacher, temperature)


class BinaryCrossEntropy:
    """Several labels per row, or none: logits and targets (batch, labels). Summed over labels, averaged over rows."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        labelled = (batch.targets != NO_LABEL).float()
        each = functional.binary_cross_entropy_with_logits(logits, batch.targets.clamp(min=0), reduction="none")
        return (each * labelled).sum() / torch.clamp(labelled.amax(1).sum(), min=1)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return soft_binary(student, teacher, temperature)


class SquaredError:
    """One number per row: logits (batch, 1), targets (batch,)."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        labelled = batch.targets != NO_LABEL
        return ((logits[:, 0] - batch.targets).square() * labelled).sum() / torch.clamp(labelled.sum(), min=1)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return squared(student, teacher)


class ChoiceCrossEntropy:
    """One of the sequences of a row: logits (batch × choices, 1), targets (batch,)."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        return functional.cross_entropy(logits.view(len(batch.targets), -1), batch.targets)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        rows = len(batch.targets)
        return soft_cross_entropy(student.view(rows, -1), teacher.view(rows, -1), temperature)


@dataclass(frozen=True)
class TokenCrossEntropy:
    """One label per token: logits (batch, tokens, labels), targets (batch, tokens)."""

    label_smoothing: float = 0.0

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        total = functional.cross_entropy(
            logits.flatten(0, 1),
            batch.targets.flatten(),
            ignore_index=NO_LABEL,
            reduction="sum",
            label_smoothing=self.label_smoothing,
        )
        return total / _count(batch.targets)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return soft_cross_entropy(student, teacher, temperature, (batch.targets != NO_LABEL).float())


class SpanCrossEntropy:
    """First and last token of a span: logits (batch, tokens, 2), targets (batch, 2)."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        total = functional.cross_entropy(
            over_tokens(logits, batch).flatten(0, 1),  # (2 × batch, tokens)
            batch.targets.flatten(),
            ignore_index=NO_LABEL,
            reduction="sum",
        )
        return total / _count(batch.targets)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return soft_cross_entropy(over_tokens(student, batch), over_tokens(teacher, batch), temperature)


def over_tokens(logits: Tensor, batch: Batch) -> Tensor:
    """(batch, tokens, 2) to (batch, 2, tokens), with padding masked."""
    return logits.transpose(1, 2).masked_fill(~batch.mask.bool()[:, None, :], MASKED_LOGIT)


def _count(targets: Tensor) -> Tensor:
    return torch.clamp((targets != NO_LABEL).sum(), min=1)
