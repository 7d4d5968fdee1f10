"""What stages read beside the task's rows, looked at before any work: unlabelled texts, copies of rows, and the place where what
teachers say of them is kept."""

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import NoReturn

from niwaki.answers._answer_type import Input
from niwaki.core.errors import InputError
from niwaki.core.log import info
from niwaki.core.problems import Problems
from niwaki.data import unlabelled
from niwaki.run.recipe import CacheSettings, Stage
from niwaki.tasks._tables import row_slices
from niwaki.tasks._task import Task, texts_in
from niwaki.train.settings import TrainSettings
from niwaki.train.teacher_cache import LOCK

LOOKED_AT = 10_000  # texts of a file that are read to see whether it can be


def check_unlabelled(task: Task, stages: list[Stage]) -> None:
    """Refused where a stage would be, after others have been trained for it."""
    problems = Problems()
    for stage in stages:
        with problems.collecting(f"stage '{stage.name}': "):
            _refuse(task, stage)
    problems.raise_any()


def _refuse(task: Task, stage: Stage) -> None:
    train = stage.train
    if train is None:
        return
    if train.augmentations:
        task.augmentable_inputs(task.splits()["train"].slice(0, 1))
    if train.unlabelled_path:
        if type(task).unlabelled_features is Task.unlabelled_features:
            raise InputError(f"task '{task.name}': unlabelled texts cannot be added to it; set train.unlabelled = 0")
        _refuse_file(task, Path(train.unlabelled_path).expanduser())
    elif train.unlabelled and not has_unlabelled_texts(task):
        said = f"train.unlabelled: task '{task.name}' brings no unlabelled texts"
        if not train.labelled and not train.augmentations:
            raise InputError(f"{said}, and train.labelled is false; name a file of texts in train.unlabelled_path")
        info(f"stage '{stage.name}': {said}, so none are added; name a file of them in train.unlabelled_path")


def has_unlabelled_texts(task: Task) -> bool:
    return type(task).unlabelled_texts is not Task.unlabelled_texts


def count(task: Task, stage: Stage) -> int:
    """Unlabelled texts that a stage adds to its rows, at most."""
    train = stage.train
    if train is None or not train.unlabelled:
        return 0
    if train.unlabelled_path:
        return sum(1 for _ in islice(unlabelled.texts(Path(train.unlabelled_path).expanduser()), train.unlabelled))
    return train.unlabelled if has_unlabelled_texts(task) else 0


def draw_unlabelled(task: Task, train: TrainSettings, seed: int) -> tuple[list[Input], int]:
    """Unlabelled texts for a training, and how many were passed over, because the student is scored on them: it would have been
    taught on its own exam."""
    asked, left = evaluation_texts(task), set()

    def is_asked(given: Input) -> bool:
        if found := asked(given):
            left.add(_plain(given))
        return found

    if train.unlabelled_path:
        path = Path(train.unlabelled_path).expanduser()
        texts = [*unlabelled.sample_texts(path, train.unlabelled, seed, is_asked)]
    else:
        texts = [one for one in task.unlabelled_texts(train.unlabelled, seed) if not is_asked(one)]
    if left and not texts:
        _reject_evaluation_texts(task, len(left))
    if train.unlabelled_path and not texts:
        raise InputError(f"{train.unlabelled_path}: has no texts")
    return texts, len(left)


def evaluation_texts(task: Task) -> Callable[[Input], bool]:
    """Tells whether a text is a row that models are scored on. Of these only hashes are held."""
    parts = (rows for part, rows in task.splits().items() if part != "train")
    held = {hash(_plain(one)) for rows in parts for piece in row_slices(rows) for one in task.inputs(piece)}
    return lambda given: hash(_plain(given)) in held


def _reject_evaluation_texts(task: Task, count: int) -> NoReturn:
    raise InputError(
        f"train.unlabelled_path: all {count} texts are validation or test rows of task '{task.name}'; give others"
    )


def _plain(given: Input) -> tuple[str, ...]:
    """Without regard to case and spaces, in which copies of a set differ."""
    return tuple(" ".join(text.casefold().split()) for text in texts_in(given))


def _refuse_file(task: Task, path: Path) -> None:
    """A file that cannot be read, or holds pairs for a task on single texts, or the other way round."""
    some = list(islice(unlabelled.texts(path), LOOKED_AT))
    if not some:
        raise InputError(f"{path}: has no texts")
    single = isinstance(task.augmentable_inputs(task.splits()["train"].slice(0, 1))[0], str)
    if any(isinstance(text, str) != single for text in some):
        have, want = ("pairs of texts", "single texts") if single else ("single texts", "pairs of texts")
        raise InputError(f"{path}: holds {have}, and task '{task.name}' is on {want}; give a file of these")
    if len(some) < LOOKED_AT and all(map(evaluation_texts(task), some)):
        _reject_evaluation_texts(task, len(some))


def cache_folder(cache: CacheSettings, run_folder: Path) -> Path:
    """Where what teachers say is kept: beside the run folders, so that they share it."""
    return Path(cache.folder).expanduser() if cache.folder else run_folder.parent / ".teachers"


def check_cache_folder(folder: Path) -> None:
    """One that cannot be, or be written to."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise InputError(f"cache.folder: {there}: is a file, not a folder; name another")
    if (folder / LOCK).is_dir():
        raise InputError(
            f"cache.folder: {folder / LOCK}: is a folder, where a file must be; remove it, or name another"
        )
    if not os.access(there, os.W_OK):
        raise InputError(f"cache.folder: {there}: cannot be written to; name another")
