"""Adversarial smoothing: the answers should not change when embeddings are moved a little in the worst direction.

The direction is found by gradient ascent on the divergence between the answers with and without the perturbation. Labels are not needed, so
unlabelled texts count too. The perturbation is added to the output of the input stage.
Paper: Jiang et al. 2020, SMART: Robust and Efficient Fine-Tuning (arXiv 1911.03437), its smoothness-inducing regularizer; FreeLB (Zhu et al. 2020,
arXiv 1909.11764) perturbs embeddings for the task's loss instead.
Cost: `steps` + 1 more passes in every step: with one step it takes about three times as long.
"""

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, ContributesLoss, Method, Requirements, Reshapes
from niwaki.methods.adapt._consistency import symmetric_divergence
from niwaki.models.forward import Batch, Outputs, embedded, from_embedded
from niwaki.models.layout import Packed
from niwaki.models.model import Model

START = 0.1  # standard deviation of the first perturbation, as a share of the radius


class Smart(Method, Reshapes, ContributesLoss):
    weight: float = setting(1.0, "weight of the divergence, which is added to the loss so far", gt=0)
    radius: float = setting(0.01, "largest change of any number of an embedding", gt=0)
    steps: int = setting(1, "steps of gradient ascent that search for the worst perturbation", ge=1, le=10)

    requires = Requirements(training=True, compares_logits=True)

    def dry_prepare(self, model: Model) -> Model:
        model.anatomy.require_layers("smart")
        if model.anatomy.is_seq2seq:
            raise InputError(
                "smart: it perturbs encoders, and this model generates text; leave 'smart' out, or use 'rdrop'"
            )
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)

    @property
    def further_passes(self) -> float:
        return self.steps + 1.0

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        anatomy, target = model.anatomy, outputs.logits.detach()
        before, mask, types = embedded(anatomy, batch.inputs)

        def logits(hidden: Tensor) -> Tensor:
            layout = Packed(mask)
            layout.types = types
            return from_embedded(anatomy, hidden, layout, {})

        change = torch.randn_like(before) * (self.radius * START)
        for _ in range(self.steps):
            change.requires_grad_(True)
            divergence = symmetric_divergence(logits(before.detach() + change), target, batch, context)
            (gradient,) = torch.autograd.grad(divergence, change)
            change = ascend(change.detach(), gradient, self.radius / self.steps, self.radius)
        return loss + self.weight * symmetric_divergence(logits(before + change), outputs.logits, batch, context)


def ascend(change: Tensor, gradient: Tensor, step: float, radius: float) -> Tensor:
    """A step along the gradient (batch, tokens, hidden), in which the largest number of each token is `step`; then limited to ± radius."""
    largest = gradient.abs().amax(dim=-1, keepdim=True)
    direction = torch.where(largest > 0, gradient / largest, torch.zeros_like(gradient))
    return (change + step * direction).clamp(-radius, radius)
