"""Does the objective of every stage train the head that gives the task's answers?"""

from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.objectives import OBJECTIVES
from niwaki.objectives._objective import Objective
from niwaki.run.validation.draft import Draft
from niwaki.tasks._task import Task


def check(draft: Draft, problems: Problems) -> None:
    if draft.has_rows:
        for stage in draft.stages:
            if stage.spec.train:
                with problems.collecting(f"stage '{stage.name}': "):
                    _check_head(stage.spec.train.objective, draft.task)


def _check_head(name: str, task: Task) -> None:
    head = OBJECTIVES.load(name, Objective)(task).head
    if (head.architecture, head.labels) != (task.head.architecture, task.head.labels):
        raise InputError(
            f"train.objective: '{name}' trains a {head.architecture} head with {len(head.labels)} outputs, and task '{task.name}' "
            f"needs {task.head.architecture} with {len(task.head.labels)}; choose another objective"
        )
