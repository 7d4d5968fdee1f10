"""R-Drop: two passes with different dropout should give the same answers.

The loss is ½ (L₁ + L₂ + weight × ½ (KL(p₁ ‖ p₂) + KL(p₂ ‖ p₁))), where L₁ is the loss so far and L₂ the task's loss of the second pass. It needs
dropout; name it before methods that replace the loss, such as `logits`.
Paper: Liang et al. 2021, R-Drop: Regularized Dropout for Neural Networks (arXiv 2106.14448).
Cost: a second pass in every step, which doubles its time.
"""

from torch import Tensor

from niwaki.core.settings import setting
from niwaki.methods._method import Context, ContributesLoss, Method, Requirements
from niwaki.methods.adapt._consistency import symmetric_divergence
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.model import Model


class RDrop(Method, ContributesLoss):
    weight: float = setting(1.0, "weight of the divergence between the two passes (alpha in the paper)", gt=0)

    requires = Requirements(training=True, compares_logits=True)

    @property
    def further_passes(self) -> float:
        return 1.0

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        second = forward(model.anatomy, batch)
        divergence = symmetric_divergence(outputs.logits, second.logits, batch, context)
        return (loss + context.outputs_loss(second, batch) + self.weight * divergence) / 2
