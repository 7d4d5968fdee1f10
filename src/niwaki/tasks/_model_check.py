"""Whether a saved model answers what a task asks for."""

from pathlib import Path

from niwaki.answers._answer_type import AnswerType
from niwaki.core.errors import InputError
from niwaki.tasks._task import Task


def check_model_matches(task: Task, answer_type: AnswerType, labels: list[str], model: Path) -> None:
    kind = answer_type.to_json()["kind"]
    if kind != task.answer:
        raise InputError(f"{model}: answers with a {kind}, the task wants a {task.answer}")
    check_labels_match(task, labels, model)


def check_labels_match(task: Task, labels: list[str], model: Path) -> None:
    if labels != task.labels:
        raise InputError(
            f"{model}: its labels are {labels[:20]}, the task's are {task.labels[:20]}; choose the task it was made for"
        )
