"""Does the objective of every stage train the head that gives the task's answers, and define what its methods need?"""

from collections.abc import Sequence

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.problems import Problems
from niwaki.methods._method import Bakes, Method
from niwaki.objectives._factory import make_objective, objective_name
from niwaki.objectives._objective import ComparesRows, Objective
from niwaki.run.validation.draft import Draft, ResolvedStage
from niwaki.tasks._task import Task
from niwaki.train.settings import TrainSettings


def check(draft: Draft, problems: Problems) -> None:
    if draft.has_rows:
        for stage in draft.stages:
            if stage.spec.train:
                with problems.collecting(f"stage '{stage.name}': "):
                    _check_head(stage, stage.spec.train.objective, draft.task)
                    _check_short(stage.spec.train, draft.task)
                    _check_micro_shards(stage.spec.train, draft.task)
                    _check_soft_loss(stage.spec.train.objective, draft.task, stage.methods)


def _check_head(stage: ResolvedStage, given: str | Json, task: Task) -> None:
    objective, name, methods = stage.objective(task), objective_name(given), stage.methods
    objective.check()
    head = objective.head
    fitted_afterwards = any(method.requires.fits_head and isinstance(method, Bakes) for method in methods)
    if not objective.trains_head and not fitted_afterwards:
        raise InputError(
            f"train.objective: '{name}' trains no head; add a method that fits one, {{ use = 'linear_head' }}"
        )
    if (head.architecture, head.labels) != (task.head.architecture, task.head.labels):
        raise InputError(
            f"train.objective: '{name}' trains a {head.architecture} head with {len(head.labels)} outputs, and task '{task.name}' "
            f"needs {task.head.architecture} with {len(task.head.labels)}; choose another objective"
        )


def _check_short(train: TrainSettings, task: Task) -> None:
    if train.short_tokens and not make_objective(train.objective, task).reads_any_part:
        raise InputError(
            f"train.short_tokens: cuts sequences, and objective '{objective_name(train.objective)}' reads them whole; leave it out"
        )


def _check_micro_shards(train: TrainSettings, task: Task) -> None:
    """Single rows have the same gradients in a micro-shard as in the whole batch."""
    if train.micro_shards > train.batch:
        raise InputError(
            f"train.micro_shards: a batch of {train.batch} rows cannot be cut into {train.micro_shards} parts; take at most {train.batch}"
        )
    if train.micro_shards > 1 and isinstance(make_objective(train.objective, task), ComparesRows):
        raise InputError(
            f"train.micro_shards: objective '{objective_name(train.objective)}' compares the rows of a batch with each other, and parts of it "
            "would give another loss; leave it out"
        )


def _check_soft_loss(given: str | Json, task: Task, methods: Sequence[Method]) -> None:
    name = objective_name(given)
    if type(make_objective(given, task)).soft_loss is Objective.soft_loss:
        for method in methods:
            if method.requires.compares_logits:
                raise InputError(
                    f"{method.label()}: compares logits, and objective '{name}' trains none; leave '{method.label()}' out, "
                    "or train with objective = 'supervised'"
                )
