"""Trains one network whose smaller shapes all work, so that `subnet` cuts any of them without training.

Heads and neurons are ordered by importance. In each step the smallest shape and random ones run with the same weights, and learn the
answers of the whole network. Name it behind methods that replace the loss, such as `logits`.

Paper: Hou et al. 2020, DynaBERT: Dynamic BERT with Adaptive Width and Depth (arXiv 2004.04037); the smallest shape in every step, and
the whole network as the teacher: Yu, Huang 2019, Universally Slimmable Networks (arXiv 1903.05134).
Cost: a pass for each sampled shape in every step; heads and neurons that are left out are computed nevertheless, layers are not.
"""

import statistics

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, ContributesLoss, Method, Requirements, Reshapes
from niwaki.methods.prune._shapes import Shape, count_of, running
from niwaki.models.anatomy import Anatomy
from niwaki.models.edits.ffn import Ffn
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.head_order import head_order, set_head_order
from niwaki.models.importance import importance
from niwaki.models.model import Model


class Supernet(Method, Reshapes, ContributesLoss):
    layers: list[float] = setting([0.34, 0.5, 0.67, 1.0], "fractions of the layers that shapes have", min_length=1)
    heads: list[float] = setting([0.25, 0.5, 0.75, 1.0], "fractions of the heads that shapes have", min_length=1)
    ffn: list[float] = setting([0.25, 0.5, 0.75, 1.0], "fractions of the neurons that shapes have", min_length=1)
    samples: int = setting(2, "shapes in each step: the smallest, and random ones", ge=1, le=16)
    weight: float = setting(1.0, "weight of their mean loss; the loss so far has weight 1", gt=0)
    temperature: float = setting(2.0, "softens the answers that are compared", gt=0)
    batches: int = setting(16, "calibration batches to estimate importance", ge=1)

    requires = Requirements(training=True, compares_logits=True)

    def dry_prepare(self, model: Model) -> Model:
        for name in ("layers", "heads", "ffn"):
            if not all(0 < share <= 1 for share in getattr(self, name)):
                raise InputError(f"supernet: {name} must be fractions above 0, up to 1")
        model.anatomy.require_layers("supernet")
        if model.anatomy.is_seq2seq:
            raise InputError("supernet: the model generates text, and shapes are of encoders; leave 'supernet' out")
        set_head_order(model.network, [list(range(layer.heads)) for layer in model.anatomy.attentions])
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        worth = importance(model, context.calibration(model, self.batches), context.loss)
        anatomy = model.anatomy
        makers = [layer.part("query") for layer in anatomy.attentions]
        set_head_order(model.network, ranked(worth.heads, makers))
        model.apply_edit(Ffn(keep=[*ranked(worth.neurons, [block.producer for block in anatomy.blocks])]))
        return model

    @property
    def further_passes(self) -> float:
        """Only the layers that run."""
        return min(self.layers) + (self.samples - 1) * statistics.mean(self.layers)

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        anatomy, order = model.anatomy, head_order(model.network)
        assert order is not None
        wanted, total = outputs.logits.detach(), torch.zeros(())
        for shape in self.shapes(anatomy):
            with running(anatomy, shape, order) as small:
                found = forward(small, batch)
            total = total + context.soft_loss(found.logits, wanted, batch, self.temperature)
        return loss + self.weight * total / self.samples

    def shapes(self, anatomy: Anatomy) -> list[Shape]:
        """The smallest shape and random ones, which follow from the state of torch's generator: a step sets it."""
        depth = len(anatomy.order)
        found = [Shape(count_of(min(self.layers), depth), min(self.heads), min(self.ffn))]
        while len(found) < self.samples:
            layers, heads, ffn = (
                values[int(torch.randint(len(values), ()))] for values in (self.layers, self.heads, self.ffn)
            )
            found.append(Shape(count_of(layers, depth), heads, ffn))
        return found


def ranked(worth: list[Tensor], makers: list[object]) -> list[list[int]]:
    """The units of each place, the most important first. Places that share the matrix which makes them have one order."""
    totals: dict[int, Tensor] = {}
    for maker, own in zip(makers, worth, strict=True):
        totals[id(maker)] = totals[id(maker)] + own if id(maker) in totals else own
    return [totals[id(maker)].argsort(descending=True, stable=True).tolist() for maker in makers]
