"""Can every stage get the unlabelled texts that its train block names?"""

from itertools import islice
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.log import info
from niwaki.core.problems import Problems
from niwaki.data import unlabelled
from niwaki.run.recipe_settings import Stage
from niwaki.run.unlabelled_texts import evaluation_texts, reject_evaluation_texts
from niwaki.run.validation.draft import Draft
from niwaki.tasks._capabilities import AcceptsUnlabelledTexts, BringsUnlabelledTexts
from niwaki.tasks._task import Task

MAX_TEXTS = 10_000  # texts of a file that are read to check it


def check(draft: Draft, problems: Problems) -> None:
    if draft.has_rows and draft.is_sound("stages"):
        for stage in draft.recipe.stages:
            with problems.collecting(f"stage '{stage.name}': "):
                _check_stage(draft.task, stage)


def _check_stage(task: Task, stage: Stage) -> None:
    train = stage.train
    if train is None:
        return
    if train.augmentations and not isinstance(task, AcceptsUnlabelledTexts):
        raise InputError(
            f"task '{task.name}': rows whose answers hang on single words cannot be augmented; set train.augmentations = 0"
        )
    if train.unlabelled_path:
        if not isinstance(task, AcceptsUnlabelledTexts):
            raise InputError(f"task '{task.name}': unlabelled texts cannot be added to it; set train.unlabelled = 0")
        _check_file(task, Path(train.unlabelled_path).expanduser())
    elif train.unlabelled and not isinstance(task, BringsUnlabelledTexts):
        message = f"train.unlabelled: task '{task.name}' brings no unlabelled texts"
        if not train.labelled and not train.augmentations:
            raise InputError(f"{message}, and train.labelled is false; name a file of texts in train.unlabelled_path")
        info(f"stage '{stage.name}': {message}, so none are added; name a file of them in train.unlabelled_path")


def _check_file(task: Task, path: Path) -> None:
    """The file must be readable, hold single texts or pairs as the task does, and not only evaluation rows."""
    texts = list(islice(unlabelled.texts(path), MAX_TEXTS))
    if not texts:
        raise InputError(f"{path}: has no texts")
    single = isinstance(task.inputs(task.splits()["train"].slice(0, 1))[0], str)
    if any(isinstance(text, str) != single for text in texts):
        have, want = ("pairs of texts", "single texts") if single else ("single texts", "pairs of texts")
        raise InputError(f"{path}: holds {have}, and task '{task.name}' is on {want}; give a file of these")
    if len(texts) < MAX_TEXTS and all(map(evaluation_texts(task), texts)):
        reject_evaluation_texts(task, len(texts))
