"""Layer by layer: embeddings, hidden states and attention scores of the student follow chosen layers of the teacher.

Paper: Jiao et al. 2020, TinyBERT: Distilling BERT for Natural Language Understanding (arXiv 1909.10351).
Cost: one forward pass of the teacher per training batch.
"""

from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from niwaki.core.errors import Refused
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method
from niwaki.models.forward import HIDDEN, SCORES, Batch, Outputs
from niwaki.models.model import Model


class TinyBert(Method):
    embedding: float = setting(1.0, "weight of the loss on the embeddings' output", ge=0)
    hidden: float = setting(1.0, "weight of the loss on the layers' outputs", ge=0)
    attention: float = setting(1.0, "weight of the loss on the attention scores, before softmax", ge=0)
    prediction: float = setting(1.0, "weight of the loss on the soft targets", ge=0)
    temperature: float = setting(1.0, "of the soft targets", gt=0)
    mapping: Literal["uniform", "top"] = setting(
        "uniform", "which teacher layers are followed: spread evenly, or the last ones"
    )
    truth: float = setting(0.0, "weight of the loss so far (the labels)", ge=0)

    needs: ClassVar[frozenset[str]] = frozenset({HIDDEN, SCORES})
    needs_teacher: ClassVar[bool] = True
    needs_training: ClassVar[bool] = True

    def prepare(self, model: Model, context: Context) -> Model:
        assert context.teacher_model is not None
        student, teacher = model.anatomy, context.teacher_model.anatomy
        if len(student.order) > len(teacher.order):
            raise Refused(
                f"tinybert: the student has {len(student.order)} layers, more than the teacher's {len(teacher.order)}; make it shallower"
            )
        if self.attention and _heads(model) != _heads(context.teacher_model):
            raise Refused(
                "tinybert: student and teacher have different numbers of heads; set attention = 0 to distil without the attention loss"
            )
        if student.width != teacher.width:  # one projection for all layers, as in the paper
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(derive(context.seed, "tinybert"))
                self._helpers = nn.Linear(student.width, teacher.width, bias=False)
        return model

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        assert context.teacher is not None
        teacher = context.teacher(batch)
        mapped = layer_map(len(outputs.scores), len(teacher.scores), self.mapping)
        hidden = [self._helpers(state) for state in outputs.hidden] if self._helpers else outputs.hidden
        real = batch.mask.to(torch.float32)  # (batch, tokens)
        total = self.truth * loss
        total = total + self.embedding * masked_mse(hidden[0], teacher.hidden[0], real[..., None])
        for depth, source in enumerate(mapped):
            total = total + self.hidden * masked_mse(hidden[depth + 1], teacher.hidden[source + 1], real[..., None])
            if self.attention:
                pairs = real[:, None, :, None] * real[:, None, None, :]  # (batch, 1, tokens, tokens)
                total = total + self.attention * masked_mse(outputs.scores[depth], teacher.scores[source], pairs)
        return total + self.prediction * context.soft_loss(outputs.logits, teacher.logits, batch, self.temperature)


def layer_map(student: int, teacher: int, how: str) -> list[int]:
    """For each student layer, the teacher layer it follows (both from 0)."""
    if how == "top":
        return list(range(teacher - student, teacher))
    return [(number + 1) * teacher // student - 1 for number in range(student)]


def masked_mse(a: Tensor, b: Tensor, real: Tensor) -> Tensor:
    """Mean squared difference over real tokens (or pairs of real tokens); `real` is broadcast over what it lacks."""
    squares = (a.float() - b.float()).square() * real
    return squares.sum() / (real.sum() * (squares.numel() / real.numel()))


def _heads(model: Model) -> set[int]:
    return {layer.heads for layer in model.anatomy.layers}
