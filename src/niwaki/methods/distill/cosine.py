"""Cosine loss: the student's last hidden states point in the direction of the teacher's.

Paper: Sanh et al. 2019, DistilBERT, a distilled version of BERT (arXiv 1910.01108), where it is combined with soft targets and labels.
Cost: one pass of the teacher over the texts, cached on disk for all epochs, seeds and runs.
"""

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.core.settings import setting
from niwaki.methods._method import Context
from niwaki.methods.distill._layers import HiddenStateDistiller
from niwaki.models.activations import named
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model


class Cosine(HiddenStateDistiller):
    weight: float = setting(1.0, "weight of this loss, which is added to the loss so far", ge=0)

    def check_teacher(self, model: Model, teacher: Model) -> None:
        for one in (model, teacher):
            one.anatomy.require_layers("cosine")

    def teacher_activations(self, model: Model, teacher: Model) -> frozenset[str]:
        return named("hidden", [len(teacher.anatomy.order)])

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        assert context.teacher is not None and context.teacher_model is not None
        theirs = context.teacher(batch).hidden[len(context.teacher_model.anatomy.order)]
        own = self.project(outputs.hidden[len(outputs.hidden) - 1])
        real = batch.mask.to(torch.float32)
        apart = 1 - functional.cosine_similarity(own.float(), theirs.float(), dim=-1)  # (batch, tokens)
        return loss + self.weight * (apart * real).sum() / real.sum()
