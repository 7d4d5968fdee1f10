"""Layer by layer: embeddings, hidden states and attention scores of the student follow chosen layers of the teacher.

Paper: Jiao et al. 2020, TinyBERT: Distilling BERT for Natural Language Understanding (arXiv 1909.10351). Its two phases are two
stages: prediction = 0 in the first; embedding, hidden and attention = 0 in the second, or `logits`. A learned mapping as in
Passban et al. 2021 (arXiv 2012.14022): each student layer follows a weighted mean of all teacher layers.
Cost: one pass of the teacher over the texts, cached on disk for all epochs, seeds and runs.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, ContributesLoss, FollowsTeacher, Method, Requirements, Reshapes
from niwaki.methods.distill._layers import RealTokens, depths, heads_of, layer_map, projection, weighted_sum
from niwaki.models.activations import named
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model
from niwaki.models.record import HIDDEN, SCORES

INITIAL_LOGIT = 2.0  # of the uniform mapping's layer in a learned mapping; those of other layers start at 0


class TinyBert(Method, Reshapes, ContributesLoss, FollowsTeacher):
    embedding: float = setting(1.0, "weight of the loss on the embeddings' output", ge=0)
    hidden: float = setting(1.0, "weight of the loss on the layers' outputs", ge=0)
    attention: float = setting(1.0, "weight of the loss on the attention scores, before softmax", ge=0)
    prediction: float = setting(1.0, "weight of the loss on the soft targets", ge=0)
    temperature: float = setting(1.0, "temperature of the soft targets", gt=0)
    mapping: Literal["uniform", "top", "learned"] = setting(
        "uniform",
        "which teacher layers are followed: evenly spaced ones, the last ones, or a mean of all with learned weights",
    )
    truth: float = setting(0.0, "weight of the loss so far (the labels)", ge=0)

    requires = Requirements(teacher="required", training=True, activations=frozenset({HIDDEN, SCORES}))
    version = 3

    @property
    def trains_answers(self) -> bool | None:
        return True if self.prediction else None if self.truth else False

    @property
    def follows_answers(self) -> bool:
        return self.prediction > 0

    def prepare(self, model: Model, context: Context) -> Model:
        teacher = context.teacher_model
        assert teacher is not None
        self.check_teacher(model, teacher)
        own, theirs = depths("tinybert", model, teacher)
        helpers = nn.ModuleDict()
        matrix = projection(model, teacher, context.seed, "tinybert")
        if matrix is not None:
            helpers["projection"] = matrix
        if self.mapping == "learned":
            helpers["mix"] = LayerMixture(own, theirs)
        self._helpers = helpers if len(helpers) else None
        return model

    def check_teacher(self, model: Model, teacher: Model) -> None:
        own, theirs = depths("tinybert", model, teacher)
        if not self.attention:
            return
        followed = (
            [range(theirs)] * own
            if self.mapping == "learned"
            else [[one] for one in layer_map(own, theirs, self.mapping)]
        )
        heads = heads_of(teacher)
        for place, (have, numbers) in enumerate(zip(heads_of(model), followed, strict=True), start=1):
            unlike = next((number for number in numbers if heads[number] != have), None)
            if unlike is not None:
                raise InputError(
                    f"tinybert: layer {place} of the student has {have} heads, and layer {unlike + 1} of the teacher, which it follows, "
                    f"{heads[unlike]}; set attention = 0 to distil without the attention loss, or use 'attention_relations', which compares any "
                    "numbers of heads"
                )

    def teacher_activations(self, model: Model, teacher: Model) -> frozenset[str]:
        own, theirs = depths("tinybert", model, teacher)
        layers = range(theirs) if self.mapping == "learned" else layer_map(own, theirs, self.mapping)
        activations: frozenset[str] = frozenset()
        if self.embedding:
            activations |= named("hidden", [0])
        if self.hidden:
            activations |= named("hidden", (number + 1 for number in layers))
        return activations | named("scores", layers) if self.attention else activations

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        assert context.teacher is not None
        teacher = context.teacher(batch)
        real, total = RealTokens(batch, outputs, teacher), self.truth * loss
        if self.embedding:
            own, target = real.of(HIDDEN, outputs.hidden, 0), real.of(HIDDEN, teacher.hidden, 0)
            total = total + self.embedding * real.error(HIDDEN, self._project(own), target)
        for depth in range(len(outputs.scores) if self.hidden or self.attention else 0):
            sources = self._sources(depth, len(outputs.scores), context)
            if self.hidden:
                own = self._project(real.of(HIDDEN, outputs.hidden, depth + 1))
                states = [real.of(HIDDEN, teacher.hidden, number + 1) for number in sources]
                total = total + self.hidden * real.error(HIDDEN, own, self._target(depth, states))
            if self.attention:
                own = real.of(SCORES, outputs.scores, depth)
                states = [real.of(SCORES, teacher.scores, number) for number in sources]
                total = total + self.attention * real.error(SCORES, own, self._target(depth, states))
        if self.prediction:
            total = total + self.prediction * context.soft_loss(outputs.logits, teacher.logits, batch, self.temperature)
        return total

    def _helper(self, name: str) -> nn.Module | None:
        helpers = self._helpers
        return helpers[name] if isinstance(helpers, nn.ModuleDict) and name in helpers else None

    def _project(self, state: Tensor) -> Tensor:
        matrix = self._helper("projection")
        return state if matrix is None else matrix(state)

    def _sources(self, depth: int, own: int, context: Context) -> Sequence[int]:
        """The teacher layers that a student layer follows."""
        assert context.teacher_model is not None
        theirs = len(context.teacher_model.anatomy.order)
        learned = self._helper("mix") is not None
        return range(theirs) if learned else [layer_map(own, theirs, self.mapping)[depth]]

    def _target(self, depth: int, states: Sequence[Tensor]) -> Tensor:
        """What a student layer follows, of the states of these teacher layers."""
        mix = self._helper("mix")
        return states[0] if mix is None else weighted_sum(mix(depth), states)


class LayerMixture(nn.Module):
    """For each student layer, the weights of the teacher layers; initially mostly the layer of the uniform mapping."""

    def __init__(self, student: int, teacher: int) -> None:
        super().__init__()
        guess = torch.zeros(student, teacher)
        guess[range(student), layer_map(student, teacher, "uniform")] = INITIAL_LOGIT
        self.logits = nn.Parameter(guess)

    def forward(self, depth: int) -> Tensor:
        return torch.softmax(self.logits[depth], dim=0)
