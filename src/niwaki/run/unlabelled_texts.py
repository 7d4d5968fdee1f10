"""Unlabelled texts of a stage, and the folder that caches what teachers predict for them."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import NoReturn

from niwaki.answers._answer_type import Input
from niwaki.core.errors import InputError
from niwaki.data import unlabelled
from niwaki.run.recipe_settings import CacheSettings, Stage
from niwaki.tasks._capabilities import BringsUnlabelledTexts
from niwaki.tasks._tables import row_slices
from niwaki.tasks._task import Task, texts_in
from niwaki.train.settings import TrainSettings


def count(task: Task, stage: Stage) -> int:
    """Upper bound of the unlabelled texts that a stage adds to its rows."""
    train = stage.train
    if train is None or not train.unlabelled:
        return 0
    if train.unlabelled_path:
        return sum(1 for _ in islice(unlabelled.texts(Path(train.unlabelled_path).expanduser()), train.unlabelled))
    return train.unlabelled if isinstance(task, BringsUnlabelledTexts) else 0


def draw_unlabelled(task: Task, train: TrainSettings, seed: int) -> tuple[list[Input], int]:
    """Unlabelled texts for a stage, and how many evaluation rows were excluded: training on evaluation texts inflates the score."""
    in_evaluation, excluded = evaluation_texts(task), set[tuple[str, ...]]()

    def is_excluded(given: Input) -> bool:
        if found := in_evaluation(given):
            excluded.add(_normalize(given))
        return found

    if train.unlabelled_path:
        path = Path(train.unlabelled_path).expanduser()
        texts = [*unlabelled.sample_texts(path, train.unlabelled, seed, is_excluded)]
    else:
        brought = task.unlabelled_texts(train.unlabelled, seed) if isinstance(task, BringsUnlabelledTexts) else []
        texts = [text for text in brought if not is_excluded(text)]
    if excluded and not texts:
        reject_evaluation_texts(task, len(excluded))
    if train.unlabelled_path and not texts:
        raise InputError(f"{train.unlabelled_path}: has no texts")
    return texts, len(excluded)


def evaluation_texts(task: Task) -> Callable[[Input], bool]:
    """Tells whether a text is a validation or test row. Stores only hashes of these rows."""
    parts = (rows for part, rows in task.splits().items() if part != "train")
    hashes = {hash(_normalize(given)) for rows in parts for table in row_slices(rows) for given in task.inputs(table)}
    return lambda given: hash(_normalize(given)) in hashes


def reject_evaluation_texts(task: Task, count: int) -> NoReturn:
    raise InputError(
        f"train.unlabelled_path: all {count} texts are validation or test rows of task '{task.name}'; give others"
    )


def _normalize(given: Input) -> tuple[str, ...]:
    """Ignores case and spacing, in which copies of a dataset differ."""
    return tuple(" ".join(text.casefold().split()) for text in texts_in(given))


def cache_folder(cache: CacheSettings, run_folder: Path) -> Path:
    """The teacher cache: by default next to the run folders, which share it."""
    return Path(cache.folder).expanduser() if cache.folder else run_folder.parent / ".teachers"
