"""Soft targets: the student learns the teacher's whole output distribution, not only its most likely label (for regression, its number).

Paper: Hinton, Vinyals, Dean 2015, Distilling the Knowledge in a Neural Network (arXiv 1503.02531).
Cost: one pass of the teacher over the training rows; nothing per epoch.
"""

from torch import Tensor

from niwaki.core.settings import setting
from niwaki.methods._method import Context, ContributesLoss, FollowsTeacher, Method, Requirements
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model


class Logits(Method, ContributesLoss, FollowsTeacher):
    temperature: float = setting(
        2.0, "softens both distributions: higher values reveal more of the less likely labels", gt=0
    )
    weight: float = setting(0.8, "weight of the soft targets; the loss so far gets the rest, 1 - weight", ge=0, le=1)

    requires = Requirements(teacher="required", training=True, compares_logits=True)

    @property
    def trains_answers(self) -> bool | None:
        return True if self.weight else None

    @property
    def follows_answers(self) -> bool:
        return self.weight > 0

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        assert context.teacher is not None
        soft = context.soft_loss(outputs.logits, context.teacher(batch).logits, batch, self.temperature)
        return self.weight * soft + (1 - self.weight) * loss
