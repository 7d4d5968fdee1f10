"""Whether a saved model answers what a task asks for, and targets as that model encodes them."""

from pathlib import Path

from niwaki.answers._answer_type import AnswerType
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.models.published_answer import open_answer_type
from niwaki.tasks._capabilities import DependsOnStartModel
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


def adapt_to_model(task: Task, folder: Path, config: Json, labels: list[str]) -> None:
    """Lets a task encode its targets as a saved model does."""
    check_labels_match(task, labels, folder)
    if isinstance(task, DependsOnStartModel):
        task.set_start_model(folder)
        task.use_answer_type(open_answer_type(folder, config, labels))
