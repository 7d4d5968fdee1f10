"""Imbalanced labels: rare labels weigh more in the loss, and with the focal loss answers that are already right weigh less.

It replaces the task's loss: name it before methods that add to the loss. Weights come from the frequencies in the training rows. With one label for
each text they are (rows ÷ (labels × rows of the label))^exponent, scaled to a mean of 1 over the rows; with several, the positives of a label weigh
(rows without it ÷ rows with it)^exponent.
Paper: Lin et al. 2017, Focal Loss for Dense Object Detection (arXiv 1708.02002); weights as in King, Zeng 2001, Logistic Regression in Rare Events Data.
Cost: none.
"""

from collections.abc import Callable

import pyarrow as pa
import torch
from pydantic import PrivateAttr, model_validator
from torch import Tensor
from torch.nn import functional

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, ContributesLoss, Method, Requirements, Reshapes, SelectsRows
from niwaki.models.forward import NO_LABEL, Batch, Outputs
from niwaki.models.model import Model

ONE, SEVERAL = "single_label_classification", "multi_label_classification"


class ClassWeights(Method, Reshapes, SelectsRows, ContributesLoss):
    exponent: float = setting(1.0, "0 weighs all labels alike, 1 by their inverse frequency", ge=0, le=2)
    gamma: float = setting(0.0, "focal loss: how much less confident right answers weigh; 0 turns it off", ge=0, le=10)

    requires = Requirements(training=True)

    _rows: int = PrivateAttr(0)
    _counts: dict[str, int] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _has_an_effect(self) -> "ClassWeights":
        if not self.exponent and not self.gamma:
            raise ValueError("exponent and gamma are both 0, which changes nothing; set one of them")
        return self

    def dry_prepare(self, model: Model) -> Model:
        if model.anatomy.is_seq2seq or model.network.config.problem_type not in (ONE, SEVERAL):
            raise InputError("class_weights: it weighs labels of whole texts; leave it out for other tasks")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)

    def rows(self, rows: pa.Table, answered: Callable[[pa.Table], pa.Table]) -> pa.Table:
        """Counts the labels; the rows stay as they are."""
        column = rows.column("label").combine_chunks()
        names = column.flatten() if pa.types.is_list(column.type) else column
        self._rows = rows.num_rows
        self._counts = {one["values"]: one["counts"] for one in names.value_counts().to_pylist()}
        return rows

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        logits = outputs.logits.float()
        counts = torch.tensor([self._counts.get(name, 0) for name in model.labels], device=logits.device)
        if model.network.config.problem_type == ONE:
            return weighted_cross_entropy(
                logits, batch.targets, label_weights(counts, self._rows, self.exponent), self.gamma
            )
        return weighted_binary(logits, batch.targets, positive_weights(counts, self._rows, self.exponent), self.gamma)


def label_weights(counts: Tensor, rows: int, exponent: float) -> Tensor:
    """Weights (labels,) that are 1 on average over the rows."""
    weights = (rows / (len(counts) * counts.clamp(min=1))) ** exponent
    return weights * rows / (weights * counts).sum()


def positive_weights(counts: Tensor, rows: int, exponent: float) -> Tensor:
    """Weights (labels,) of the rows that have a label; those without it weigh 1."""
    return ((rows - counts).clamp(min=1) / counts.clamp(min=1)) ** exponent


def weighted_cross_entropy(logits: Tensor, targets: Tensor, weights: Tensor, gamma: float) -> Tensor:
    """Mean over labelled rows of w · (1 - p)^γ · -log p, with p of the right label: logits (batch, labels), targets (batch,)."""
    labelled = targets != NO_LABEL
    right = targets.clamp(min=0)
    log_p = functional.log_softmax(logits, dim=-1).gather(1, right[:, None])[:, 0]
    each = -weights[right] * focal(log_p, gamma) * log_p
    return (each * labelled).sum() / labelled.sum().clamp(min=1)


def weighted_binary(logits: Tensor, targets: Tensor, weights: Tensor, gamma: float) -> Tensor:
    """The same for each label by itself, summed over labels: logits and targets (batch, labels)."""
    labelled, on = (targets != NO_LABEL).float(), targets == 1
    log_p = functional.logsigmoid(torch.where(on, logits, -logits))
    each = -torch.where(on, weights, torch.ones_like(weights)) * focal(log_p, gamma) * log_p
    return (each * labelled).sum() / labelled.amax(1).sum().clamp(min=1)


def focal(log_p: Tensor, gamma: float) -> Tensor:
    """(1 - p)^γ; 1 - p is kept above 0, where a root has no gradient."""
    return (-torch.expm1(log_p)).clamp(min=1e-6) ** gamma if gamma else torch.ones_like(log_p)
