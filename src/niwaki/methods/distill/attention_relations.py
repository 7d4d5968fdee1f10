"""Attention relations: similarities between the student's queries, keys and values follow the teacher's, whatever their hidden sizes.

Paper: Wang et al. 2021, MiniLMv2: Multi-Head Self-Attention Relation Distillation (arXiv 2012.15828), after MiniLM (2002.10957).
Cost: one pass of the teacher over the texts, cached on disk for all epochs, seeds and runs.
"""

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, ContributesLoss, FollowsTeacher, Method, Requirements, Reshapes
from niwaki.models.activations import named
from niwaki.models.attention import split_heads
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model
from niwaki.models.record import STATES


class AttentionRelations(Method, Reshapes, ContributesLoss, FollowsTeacher):
    weight: float = setting(1.0, "weight of this loss, which is added to the loss so far", ge=0)
    truth: float = setting(1.0, "weight of the loss so far", ge=0)
    layer: int = setting(0, "teacher layer that the student's last layer follows, counted from 1; 0 is the last", ge=0)
    heads: int = setting(0, "relation heads into which the states are split; 0 is the teacher's number of heads", ge=0)

    requires = Requirements(teacher="required", training=True, activations=frozenset(STATES))

    @property
    def trains_answers(self) -> bool | None:
        return None if self.truth else False

    def prepare(self, model: Model, context: Context) -> Model:
        assert context.teacher_model is not None
        self.check_teacher(model, context.teacher_model)
        return model

    def check_teacher(self, model: Model, teacher: Model) -> None:
        for one in (model, teacher):
            one.anatomy.require_layers("attention_relations")
        source, count = self._followed(teacher)
        for who, one, depth in (("student", model, -1), ("teacher", teacher, source)):
            width = _width(one, depth)
            if width % count:
                raise InputError(
                    f"attention_relations: {count} heads do not divide the {width} numbers of the {who}'s queries; set heads to a divisor"
                )

    def teacher_activations(self, model: Model, teacher: Model) -> frozenset[str]:
        return frozenset().union(*(named(what, [self._followed(teacher)[0]]) for what in STATES))

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        assert context.teacher is not None and context.teacher_model is not None
        teacher = context.teacher(batch)
        source, count = self._followed(context.teacher_model)
        last = len(outputs.queries) - 1
        total = self.truth * loss
        for what in STATES:
            own, theirs = getattr(outputs, what)[last], getattr(teacher, what)[source]
            total = total + self.weight * divergence(own, theirs, batch.mask, count)
        return total

    def _followed(self, teacher: Model) -> tuple[int, int]:
        """The teacher's layer, from 0, and the number of relation heads."""
        depth = len(teacher.anatomy.order)
        if self.layer > depth:
            raise InputError(f"attention_relations: layer {self.layer} is more than the teacher's {depth}")
        source = (self.layer or depth) - 1
        return source, self.heads or teacher.anatomy.layers[teacher.anatomy.order[source]].heads


def divergence(student: Tensor, teacher: Tensor, mask: Tensor, heads: int) -> Tensor:
    """KL(teacher ‖ student) of each token's relations to all tokens, without padding; mean over tokens and heads."""
    real = mask.to(torch.float32)
    log_own, log_theirs = (_log_relations(states.float(), mask, heads) for states in (student, teacher))
    each = torch.where(mask[:, None, None, :].bool(), log_theirs.exp() * (log_theirs - log_own), 0.0).sum(-1)
    return (each * real[:, None, :]).sum() / (real.sum() * heads)


def _log_relations(states: Tensor, mask: Tensor, heads: int) -> Tensor:
    """(batch, tokens, width) to (batch, heads, tokens, tokens): log softmax of scaled dot products, without padding."""
    parts = split_heads(states, states.shape[-1] // heads)
    products = parts @ parts.transpose(-1, -2) * parts.shape[-1] ** -0.5
    return functional.log_softmax(products.masked_fill(mask[:, None, None, :] == 0, -1e9), dim=-1)


def _width(model: Model, depth: int) -> int:
    layer = model.anatomy.layers[model.anatomy.order[depth]]
    return layer.heads * layer.head_size
