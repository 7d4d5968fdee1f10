"""Does the objective of every stage train the head that gives the task's answers?"""

from collections.abc import Sequence

from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.methods._method import Method
from niwaki.objectives import OBJECTIVES
from niwaki.objectives._objective import Objective
from niwaki.run.validation.draft import Draft
from niwaki.tasks._task import Task


def check(draft: Draft, problems: Problems) -> None:
    if draft.has_rows:
        for stage in draft.stages:
            if stage.spec.train:
                with problems.collecting(f"stage '{stage.name}': "):
                    _check_head(stage.spec.train.objective, draft.task, stage.methods)


def _check_head(name: str, task: Task, methods: Sequence[Method]) -> None:
    objective = OBJECTIVES.load(name, Objective)(task)
    head = objective.head
    if not objective.trains_head and not any(method.requires.fits_head for method in methods):
        raise InputError(
            f"train.objective: '{name}' trains no head; add a method that fits one, {{ use = 'linear_head' }}"
        )
    if (head.architecture, head.labels) != (task.head.architecture, task.head.labels):
        raise InputError(
            f"train.objective: '{name}' trains a {head.architecture} head with {len(head.labels)} outputs, and task '{task.name}' "
            f"needs {task.head.architecture} with {len(task.head.labels)}; choose another objective"
        )
