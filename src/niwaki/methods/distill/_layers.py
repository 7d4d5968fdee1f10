"""Shared by methods that compare layers: the mapping from student to teacher layers, and the projection between hidden sizes."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.methods._method import Context, ContributesLoss, FollowsTeacher, Method, Requirements, Reshapes
from niwaki.models.forward import Batch, Depths, Outputs
from niwaki.models.model import Model
from niwaki.models.record import HIDDEN, SCORES
from niwaki.models.recorded import Recorded, Unpads
from niwaki.models.squared_error import squared_error


class HiddenStateDistiller(Method, Reshapes, ContributesLoss, FollowsTeacher):
    """Base of `cosine`, `decoder_kd` and `pkd`: the student's hidden states, projected to the teacher's size, follow the teacher's."""

    requires = Requirements(teacher="required", training=True, activations=frozenset({HIDDEN}))

    def prepare(self, model: Model, context: Context) -> Model:
        assert context.teacher_model is not None
        self.check_teacher(model, context.teacher_model)
        self._helpers = projection(model, context.teacher_model, context.seed, self.label())
        return model

    def project(self, state: Tensor) -> Tensor:
        return state if self._helpers is None else self._helpers(state)


def layer_map(student: int, teacher: int, how: str) -> list[int]:
    """For each student layer, the teacher layer it follows; both are counted from 0."""
    if how == "top":
        return list(range(teacher - student, teacher))
    return [(number + 1) * teacher // student - 1 for number in range(student)]


def depths(name: str, student: Model, teacher: Model) -> tuple[int, int]:
    """The depths of both; raises InputError in the name of the method if the student is deeper or has no layers."""
    student.anatomy.require_layers(name)
    teacher.anatomy.require_layers(name)
    own, theirs = len(student.anatomy.order), len(teacher.anatomy.order)
    if own > theirs:
        raise InputError(f"{name}: the student has {own} layers, more than the teacher's {theirs}; make it shallower")
    return own, theirs


def projection(student: Model, teacher: Model, seed: int, name: str) -> nn.Module | None:
    """One matrix for all layers, from the student's hidden size to the teacher's; None if they are equal."""
    own, theirs = student.anatomy.hidden_size, teacher.anatomy.hidden_size
    if own == theirs:
        return None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, name))
        return nn.Linear(own, theirs, bias=False)


def masked_mse(a: Tensor, b: Tensor, real: Tensor) -> Tensor:
    """Mean squared error over the elements whose token (or pair of tokens) is not padding; `real` is broadcast."""
    return squared_error(a, b, real) / (real.sum() * (a.numel() / real.numel()))


class RealTokens:
    """Compares activations of a student with its teacher's over all tokens but padding. Where both are at hand without padding, none is
    made."""

    def __init__(self, batch: Batch, outputs: Outputs, teacher: Outputs) -> None:
        self.real = batch.mask.to(torch.float32)  # (batch, tokens)
        self.orders = {what: _order(getattr(outputs, what), getattr(teacher, what)) for what in (HIDDEN, SCORES)}

    def of(self, what: str, found: Depths, depth: int) -> Tensor:
        """An activation of student or teacher as `error` compares it."""
        order = self.orders[what]
        return found.unpadded(depth, order) if order is not None and isinstance(found, Unpads) else found[depth]

    def error(self, what: str, own: Tensor, theirs: Tensor) -> Tensor:
        """The mean squared error."""
        if self.orders[what] is not None:
            return squared_error(own, theirs) / own.numel()
        return masked_mse(own, theirs, self.real[..., None] if what == HIDDEN else pairs(self.real))


def _order(own: Depths, theirs: Depths) -> Tensor | None:
    """That of the student's sequences, if activations of both are at hand in it without padding."""
    order = own.order if isinstance(own, Recorded) else None
    return order if order is not None and isinstance(theirs, Unpads) and theirs.fits(order) else None


def pairs(real: Tensor) -> Tensor:
    """(batch, tokens) to (batch, 1, tokens, tokens): 1 if neither token is padding."""
    return real[:, None, :, None] * real[:, None, None, :]


def heads_of(model: Model) -> list[int]:
    """Heads of every layer, in the order in which layers run."""
    return [model.anatomy.layers[number].heads for number in model.anatomy.order]


def weighted_sum(weights: Tensor, states: Sequence[Tensor]) -> Tensor:
    """Σ weight × state."""
    return sum((weight * state for weight, state in zip(weights, states, strict=True)), torch.zeros(()))
