"""Patient distillation: the first token's state in the student's inner layers follows chosen teacher layers, both normalized to length 1.

Paper: Sun et al. 2019, Patient Knowledge Distillation for BERT Model Compression (arXiv 1908.09355). The last layer is left to
the soft targets (put `logits` before it).
Cost: one pass of the teacher over the texts, cached on disk for all epochs, seeds and runs.
"""

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context
from niwaki.methods.distill._layers import HiddenStateDistiller, depths, layer_map
from niwaki.models.activations import named
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model


class Pkd(HiddenStateDistiller):
    weight: float = setting(10.0, "weight of this loss, which is added to the loss so far", ge=0)
    mapping: Literal["skip", "last"] = setting("skip", "teacher layers to follow: every n-th, or the last ones")

    def check_teacher(self, model: Model, teacher: Model) -> None:
        own, _theirs = depths("pkd", model, teacher)
        if own == 1:
            raise InputError(
                "pkd: compares the layers before the last, and the student has only one layer; leave 'pkd' out"
            )

    def teacher_activations(self, model: Model, teacher: Model) -> frozenset[str]:
        return named("hidden", (source + 1 for source in self._map(*depths("pkd", model, teacher))))

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        assert context.teacher is not None and context.teacher_model is not None
        theirs = context.teacher(batch).hidden
        mapped = self._map(len(outputs.hidden) - 1, len(context.teacher_model.anatomy.order))
        losses = [
            normalized_mse(self.project(outputs.hidden[depth + 1][:, 0]), theirs[source + 1][:, 0])
            for depth, source in enumerate(mapped)
        ]
        return loss + self.weight * torch.stack(losses).sum()

    def _map(self, student: int, teacher: int) -> list[int]:
        return layer_map(student, teacher, "top" if self.mapping == "last" else "uniform")[:-1]


def normalized_mse(own: Tensor, theirs: Tensor) -> Tensor:
    """Squared distance between the states, both normalized to length 1; mean over the batch."""
    return (
        (functional.normalize(own.float(), dim=-1) - functional.normalize(theirs.float(), dim=-1))
        .square()
        .sum(-1)
        .mean()
    )
