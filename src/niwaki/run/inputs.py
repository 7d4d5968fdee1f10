"""What a recipe names: its data, its models, its texts. Everything is looked at before any work, and what is wrong with one of them
does not hide what is wrong with another."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from tokenizers import Tokenizer

from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.models.head import Head
from niwaki.models.model import check_is_model
from niwaki.models.skeleton import read_config
from niwaki.models.sources import locate
from niwaki.models.target_tokenizer import load_target_tokenizer
from niwaki.models.tokenizer_loading import plain_tokenizer
from niwaki.models.weights import check_weights
from niwaki.run.recipe import Recipe
from niwaki.run.unlabelled_texts import check_cache_folder, check_unlabelled
from niwaki.tasks._task import Task
from niwaki.tokenization import vocabulary_fit

LOOKED_AT = 500  # rows whose texts are held against a vocabulary
STAND_IN = ["0", "1"]  # labels, where rows do not tell them


@dataclass
class Inputs:
    """The task, and the folders of the models whose config can be read, by the names that the recipe gives."""

    task: Task
    folders: dict[str, Path] = field(default_factory=dict)
    tokenizers: dict[str, Tokenizer] = field(default_factory=dict)  # of these
    has_models: bool = False  # whether all that the recipe names are among them
    has_rows: bool = False  # whether the task's rows can be used

    def remarks(self) -> list[str]:
        """What a user should know of the rows, and of vocabularies that do not fit them."""
        some = list(self.task.texts(self.task.splits()["train"].slice(0, LOOKED_AT)))
        misfits = (vocabulary_fit.remark(tokenizer, some, name) for name, tokenizer in self.tokenizers.items())
        return [*self.task.remarks(), *filter(None, misfits)]

    def head(self) -> Head | None:
        """The task's; where its labels are not known, one with others, which serves to rehearse shapes. None where that needs rows."""
        if self.has_rows:
            return self.task.head
        try:
            kind = self.task.answer_type
            return Head(STAND_IN, kind.architecture, kind.to_json(), kind.problem)
        except InputError:
            return None


def check_inputs(recipe: Recipe, problems: Problems, faulty: Collection[str] = ()) -> Inputs:
    """Looks at all that the recipe names but what the keys in `faulty` say, whose faults are known."""
    inputs = Inputs(recipe.make_task() if not {"task", "data"} & set(faulty) else Task())
    if "model" not in faulty:
        _check_models(recipe, inputs, problems)
    if not {"task", "data"} & set(faulty):
        _check_rows(recipe, inputs, problems)
    if inputs.has_rows and "vectors" not in faulty:
        with problems.collecting():
            check_vectors(recipe.vectors, inputs.task)
    if inputs.has_rows and "stages" not in faulty:
        with problems.collecting():
            check_unlabelled(inputs.task, recipe.stages)
    if recipe.cache.folder:  # else it is looked at where the run's folder is known
        with problems.collecting():
            check_cache_folder(Path(recipe.cache.folder).expanduser())
    return inputs


def _check_models(recipe: Recipe, inputs: Inputs, problems: Problems) -> None:
    """Those of the recipe and of its stages: that they are there, whole, and what their config says."""
    named = {recipe.model: ""} | {
        stage.model: f"stage '{stage.name}': " for stage in reversed(recipe.stages) if stage.model
    }
    for name, prefix in named.items():
        with problems.collecting(prefix):
            folder = locate(name)
            check_is_model(folder)
            read_config(folder)
            if prefix and load_target_tokenizer(folder) is not None:
                raise InputError(
                    f"{folder}: writes with pieces of its own, which the task takes from the recipe's model; make it that"
                )
            inputs.folders[name] = folder
            check_weights(folder)
        if name in inputs.folders:
            with problems.collecting(prefix):
                inputs.tokenizers[name] = plain_tokenizer(folder, read_config(folder))
    inputs.has_models = named.keys() == inputs.folders.keys()


def _check_rows(recipe: Recipe, inputs: Inputs, problems: Problems) -> None:
    with problems.collecting():
        if recipe.model in inputs.folders:
            inputs.task.set_start_model(inputs.folders[recipe.model])
        inputs.task.splits()
        _ = inputs.task.labels
        check_labels_seen(inputs.task)
        inputs.has_rows = True


def check_labels_seen(task: Task) -> None:
    """A label that only test rows have cannot be learnt; a score on them would be one of another task."""
    if task.answer not in ("label", "labels"):
        return
    for part in ("validation", *task.tests):
        gold = task.gold(task.splits()[part])
        unseen = {name for one in gold for name in (one if task.answer == "labels" else [one])} - set(task.labels)
        if unseen:
            raise InputError(
                f"{task.source()}: {_these(unseen)} in the {part} rows and not among the train rows' labels "
                f"({', '.join(task.labels[:8])}); {'take more train rows (data.rows), ' if task.rows else ''}drop those rows, or give train rows of them"
            )


def _these(labels: set[str]) -> str:
    return f"label '{min(labels)}'" + (f" and {len(labels) - 1} more are" if len(labels) > 1 else " is")


def check_vectors(path: str, task: Task) -> None:
    """The ladder reads them after the last stage, which is late to learn that the file is none."""
    if path:
        from niwaki.evaluate.baselines.static import vectors_for

        vectors_for(task, path)
