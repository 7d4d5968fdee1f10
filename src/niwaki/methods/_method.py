"""A method: settings, requirements, and the small protocols that say which steps of a stage it takes part in.

A method lists the protocols it implements, and defines nothing else:

    class Magnitude(Method, Reshapes, Schedules, Bakes): ...

docs/extending.md shows where in a stage each protocol is called.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import ClassVar, Literal, Never, TypeVar

import pyarrow as pa
from pydantic import PrivateAttr
from torch import Tensor, nn

from niwaki.core.settings import Settings
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model

Reduced = Literal["file", "memory", "flops", "time"]
LearningRateScale = float | Callable[[float], float]  # a factor, or a function from the progress to a factor
P = TypeVar("P")


def no_stage_models(stage: str) -> Model:
    raise LookupError(stage)


def unavailable(*given: object) -> Never:
    raise LookupError("only the methods of a stage can use this")


@dataclass(frozen=True)
class Context:
    """What a stage offers its methods. All of it is the same for the same seed."""

    seed: int
    teacher: Callable[[Batch], Outputs] | None  # runs without gradients; None in a stage without a teacher
    teacher_model: Model | None
    calibration: Callable[[Model, int], Iterable[Batch]]  # so many labelled training batches, in the model's tokens
    loss: Callable[[Model, Batch], Tensor]  # the task's own loss
    soft_loss: Callable[[Tensor, Tensor, Batch, float], Tensor]  # logits of student and teacher, batch, temperature
    texts: Callable[[], Iterable[str]]  # every text the stage trains on
    stage_model: Callable[[str], Model] = (
        no_stage_models  # an earlier stage's model; "" is the recipe's, with a new head
    )
    outputs_loss: Callable[[Outputs, Batch], Tensor] = unavailable  # the task's own loss, of outputs of any pass
    outputs: Callable[[Model, Batch, frozenset[str]], Outputs] = unavailable  # without gradients, with activations
    score: Callable[[Model], float] = unavailable  # the primary metric on the validation rows; higher is better


@dataclass(frozen=True)
class Requirements:
    """What a method needs from its stage, and what it reduces. Checked before any work."""

    teacher: Literal["none", "optional", "required"] = "none"
    training: bool = False  # a stage without a train block rejects the method
    activations: frozenset[str] = frozenset()  # of the student, read by `loss` (names in models/encoder.py)
    compares_logits: bool = False  # `loss` uses `context.soft_loss`: objectives that define none are rejected
    fits_head: bool = False  # it gives the model a trained head: before training, or in `finish`
    pairs: bool = False  # the task must be one on pairs of texts
    pins_modules: bool = False  # training needs the modules that `prepare` left: no later method may replace them
    adds_parameters: bool = False  # the finished model has more than the one it starts from
    reduces: tuple[Reduced, ...] = ()

    @property
    def compares_layers(self) -> bool:
        """Whether the loss compares activations of the student with those of a teacher."""
        return self.teacher == "required" and bool(self.activations)


class Reshapes(ABC):
    """Changes the structure before training, or adds what training needs."""

    @abstractmethod
    def prepare(self, model: Model, context: Context) -> Model: ...

    def dry_prepare(self, model: Model) -> Model:
        """Change the shape of a skeleton, which has no weights and no tokenizer, as `prepare` will; raise InputError if
        `prepare` could not. Called when the plan is checked."""
        return model

    @property
    def resets_head(self) -> bool:
        """Whether the head is new, and random until it is trained."""
        return False


class ContributesLoss(ABC):
    """Adds to the loss, or replaces it."""

    @abstractmethod
    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        """The new loss; `loss` is that of the task and of the methods before."""

    @property
    def trains_answers(self) -> bool | None:
        """Whether the head learns to answer from the new loss; None if that depends on the loss so far. Without answers,
        validation scores mean nothing and the last weights are kept."""
        return None

    @property
    def further_passes(self) -> float:
        """How many passes through the network it adds to the one of each step, for estimates of the time."""
        return 0.0


class Penalizes(ABC):
    """Adds a penalty on weights or activations, after the losses of all methods, so that none of them can override it."""

    @abstractmethod
    def penalty(self, model: Model, outputs: Outputs) -> Tensor | None: ...


class Schedules(ABC):
    """Acts after each optimizer step; `progress` goes from 0 to 1."""

    @abstractmethod
    def after_step(self, model: Model, progress: float) -> None: ...

    @property
    def min_progress(self) -> float:
        """The progress from which on weights may be kept as the best; 1 keeps the last."""
        return 0.0


class ScalesLearningRates(ABC):
    """Gives parameters learning rates of their own."""

    @abstractmethod
    def lr_scales(self, model: Model) -> Mapping[str, LearningRateScale]:
        """What the learning rate is multiplied by, by parameter name in the network; other parameters keep it. Called once, before
        training. The factors of several methods are multiplied."""


class AveragesWeights(ABC):
    """Keeps averages of the weights, which are validated and saved instead of the trained ones."""

    @abstractmethod
    def track(self, model: Model) -> None:
        """Called once before training, after all methods have prepared the model. Averages belong into `helpers`."""

    @abstractmethod
    def averages(self, model: Model) -> Mapping[str, Tensor]:
        """The averages by parameter name in the network; empty as long as there are none."""


class KeepsStart(ABC):
    """Prepares a model that is good before training. If its head reads one vector of a text, it is validated before the first step, and kept
    unless training makes it better by more than chance (`train/validation.py`)."""

    @property
    @abstractmethod
    def max_chance(self) -> float:
        """Trained weights are kept if chance explains their lead on validation rows with a smaller probability; 1 compares scores alone."""


class Bakes(ABC):
    """Makes the result permanent after training: slice, merge, convert, pack."""

    @abstractmethod
    def finish(self, model: Model) -> Model: ...

    def dry_finish(self, model: Model) -> Model:
        """Change the shape of a skeleton as `finish` will; raise InputError if `finish` could not."""
        return self.finish(model)


class SelectsRows(ABC):
    """Chooses the rows that are trained on."""

    @abstractmethod
    def rows(self, rows: pa.Table, answered: Callable[[pa.Table], pa.Table]) -> pa.Table:
        """The new rows; `answered` returns rows with the teacher's answers instead of the labels."""


class FollowsTeacher:
    """Learns from a teacher."""

    def check_teacher(self, model: Model, teacher: Model) -> None:
        """Raise InputError if the student cannot follow this teacher. Both may be skeletons: called when the plan is checked,
        with the shape that `prepare` will see."""

    def teacher_activations(self, model: Model, teacher: Model) -> frozenset[str]:
        """Activations of the teacher that `loss` reads, by name and depth (`models/activations.py`), for the prepared model."""
        return frozenset()

    @property
    def follows_answers(self) -> bool:
        """Whether it reads the teacher's answers, so that the teacher needs a trained head."""
        return False


class ReadsStages(ABC):
    """Reads models of earlier stages, through `context.stage_model`."""

    @property
    @abstractmethod
    def stages(self) -> tuple[str, ...]:
        """Names of the stages; "" is the recipe's model."""

    @abstractmethod
    def check_stages(self, model: Model, stage_model: Callable[[str], Model]) -> None:
        """Raise InputError if these models do not fit. All may be skeletons: called when the plan is checked."""


PROTOCOLS: tuple[type, ...] = (
    Reshapes,
    ContributesLoss,
    Penalizes,
    Schedules,
    ScalesLearningRates,
    AveragesWeights,
    KeepsStart,
    Bakes,
    SelectsRows,
    FollowsTeacher,
    ReadsStages,
)


class Method(Settings):
    """Base of the files in this package. Fields are settings; state is private."""

    version: ClassVar[int] = 1  # raise it when the same settings give another result: stages are then made again
    requires: ClassVar[Requirements] = Requirements()

    _helpers: nn.Module | None = PrivateAttr(None)

    @classmethod
    def __pydantic_init_subclass__(cls, **keywords: object) -> None:
        """Reject a class that defines a member of a protocol without listing the protocol: it would never be called."""
        for protocol in PROTOCOLS:
            members = {name for name in vars(protocol) if not name.startswith("_")}
            for name, value in vars(cls).items():
                if name in members and isinstance(value, FunctionType | property) and not issubclass(cls, protocol):
                    raise TypeError(
                        f"{cls.__name__} defines '{name}' and does not list its protocol; "
                        f"write class {cls.__name__}(Method, {protocol.__name__})"
                    )

    @classmethod
    def label(cls) -> str:
        """Its name in recipes: the name of its file."""
        return cls.__module__.rpartition(".")[2]

    @property
    def helpers(self) -> nn.Module | None:
        """The method's own parameters: trained and checkpointed with the model, never saved with it."""
        return self._helpers


def methods_with(methods: Iterable[Method], protocol: type[P]) -> list[P]:
    """The methods that implement a protocol, in the order of the recipe."""
    return [method for method in methods if isinstance(method, protocol)]


def followed_activations(methods: Iterable[Method], model: Model, teacher: Model) -> frozenset[str]:
    """Activations of the teacher that the losses of these methods read."""
    following = methods_with(methods, FollowsTeacher)
    return frozenset().union(*(method.teacher_activations(model, teacher) for method in following))


def answers_trained(methods: Sequence[Method], labelled: bool) -> bool:
    """Whether a stage trains answers: the last method that decides it, else whether there are labels."""
    decided = [method.trains_answers for method in methods_with(methods, ContributesLoss)]
    return [labelled, *(value for value in decided if value is not None)][-1]
