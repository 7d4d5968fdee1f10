"""The five moments of a method, and what it is told."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import pyarrow as pa
from pydantic import PrivateAttr
from torch import Tensor, nn

from niwaki.core.settings import Settings
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model

Moment = Literal["prepare", "finish"]


def no_stage_models(stage: str) -> Model:
    raise LookupError(stage)


@dataclass(frozen=True)
class Context:
    """What a method may ask for. Everything in it is the same for the same seed."""

    seed: int
    teacher: Callable[[Batch], Outputs] | None  # runs without gradients; None where the stage has no teacher
    teacher_model: Model | None
    calibration: Callable[
        [Model, int], Iterable[Batch]
    ]  # so many labelled training batches, in the tokens of the model
    loss: Callable[[Model, Batch], Tensor]  # the task's own loss
    soft_loss: Callable[[Tensor, Tensor, Batch, float], Tensor]  # logits of student and teacher, batch, temperature
    texts: Callable[[], Iterable[str]]  # every text the stage trains on
    stage_model: Callable[[str], Model] = (
        no_stage_models  # the model of an earlier stage; of "", the recipe's, with a new head
    )


class Method(Settings):
    """Base of the files in this package. Fields are settings; what is learnt on the way is private."""

    version: ClassVar[int] = 1  # raised when the same settings give another result: stages are then made anew
    student_activations: ClassVar[frozenset[str]] = (
        frozenset()
    )  # insides of the student that `loss` reads: HIDDEN, SCORES, STATES
    needs_teacher: ClassVar[bool] = False
    may_have_teacher: ClassVar[bool] = False  # follows one where there is one
    needs_training: ClassVar[bool] = False  # refused in a stage without a train block
    pins_modules: ClassVar[bool] = (
        False  # whether training needs the matrices that `prepare` left: refused where a later one's replaces them
    )
    reduces: ClassVar[tuple[str, ...]] = ()  # what it makes smaller: file, memory, flops, time

    _helpers: nn.Module | None = PrivateAttr(None)

    @classmethod
    def label(cls) -> str:
        """What it is called in recipes: its file's name."""
        return cls.__module__.rpartition(".")[2]

    def check_teacher(self, model: Model, teacher: Model | None, stage_model: Callable[[str], Model]) -> None:
        """Refused where the method cannot work with this teacher, or with the models of the `stages` it reads. All may be
        skeletons: this is asked before any work, for the shape that `prepare` will see."""

    @property
    def helpers(self) -> nn.Module | None:
        """Parameters of the method's own: optimized and checkpointed with the rest, never part of the saved model."""
        return self._helpers

    @property
    def min_progress(self) -> float:
        """The share of training after which weights are as the method means them: of those from then on the best validated are
        kept. 1 keeps the last."""
        return 0.0

    @property
    def trains_answers(self) -> bool | None:
        """Whether behind its `loss` the answers are what is trained; None leaves that as it was. Where they are not, scores on the
        way say nothing, and the last weights are kept."""
        return None

    @property
    def follows_answers(self) -> bool:
        """Whether its `loss` follows what a teacher answers, and not its layers alone."""
        return bool(self.trains_answers)

    @property
    def resets_head(self) -> bool:
        """Whether `prepare` leaves a new head, which answers by chance until it is trained."""
        return False

    @property
    def stages(self) -> tuple[str, ...]:
        """Earlier stages whose models the method reads (`context.stage_model`), beside the one it starts from and the teachers."""
        return ()

    def dry_run(self, model: Model, moment: Moment) -> Model:
        """What `prepare` or `finish` makes of the shape, on a skeleton without weights or tokenizer, before any work: Refused
        where it cannot. A method that changes no shape, or refuses none, has nothing to rehearse."""
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        """Structure, before training."""
        return model

    def rows(self, rows: pa.Table, answered: Callable[[pa.Table], pa.Table]) -> pa.Table:
        """The rows that are trained on, from those so far; `answered` gives rows with the teacher's answers for the right ones."""
        return rows

    def teacher_activations(self, model: Model, teacher: Model) -> frozenset[str]:
        """Insides of the teacher that `loss` reads, by name and depth (`models/activations.py`), for the model as prepared."""
        return frozenset()

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        """The signal so far to the new signal."""
        return loss

    def penalty(self, model: Model) -> Tensor | None:
        """What the model's shape costs: added to the signal that all methods made, so that none of them mixes it away."""
        return None

    def after_step(self, model: Model, progress: float) -> None:
        """Schedules; `progress` goes from 0 to 1."""

    def finish(self, model: Model) -> Model:
        """Bakes the result in: slice, merge, convert, pack."""
        return model


def answers_trained(methods: Sequence[Method], labelled: bool) -> bool:
    """Whether behind the losses of all methods the answers are what is trained: as the last says that says it, else by labels."""
    return [labelled, *(said for method in methods if (said := method.trains_answers) is not None)][-1]
