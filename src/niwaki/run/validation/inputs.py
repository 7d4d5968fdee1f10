"""Do the models, rows and word vectors that a recipe names exist, and can they be read?"""

from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.models.input_readers import plain_reader
from niwaki.models.model import check_is_model
from niwaki.models.skeleton import read_config
from niwaki.models.target_tokenizer import load_target_tokenizer
from niwaki.models.weights import check_weights
from niwaki.objectives._objective import HasPlainTexts
from niwaki.run.model_path import locate_model
from niwaki.run.recipe_settings import Recipe
from niwaki.run.validation.draft import Draft
from niwaki.tasks._capabilities import DependsOnStartModel
from niwaki.tasks._language_model_task import LanguageModelTask
from niwaki.tasks._task import Task


def named_models(recipe: Recipe) -> dict[str, str]:
    """The models that a recipe names, each with the prefix of its problems."""
    own = {stage.model: f"stage '{stage.name}': " for stage in reversed(recipe.stages) if stage.model}
    return {recipe.model: ""} | own


def check_models(draft: Draft, problems: Problems) -> None:
    """Models must exist and have a valid config, valid weights and a tokenizer."""
    for name, prefix in named_models(draft.recipe).items() if draft.is_sound("model") else ():
        with problems.collecting(prefix):
            folder = locate_model(name)
            check_is_model(folder)
            config = read_config(folder)
            if prefix and load_target_tokenizer(folder) is not None:
                raise InputError(
                    f"{folder}: has its own target tokenizer, and the task takes that of the recipe's model; name it in `model`"
                )
            draft.folders[name] = folder
            check_weights(folder)
        if name in draft.folders:
            with problems.collecting(prefix):
                draft.tokenizers[name] = plain_reader(folder, config)


def check_rows(draft: Draft, problems: Problems) -> None:
    """The task's rows must be readable, and every label of the evaluation rows must occur in the training rows."""
    if not draft.is_sound("task", "data"):
        return
    draft.task = task = draft.recipe.make_task()
    if draft.recipe.baselines and isinstance(task, LanguageModelTask) and not isinstance(task, HasPlainTexts):
        problems.add([f"baselines: task '{task.name}' has no texts to learn; set baselines = false"])
    with problems.collecting():
        if draft.recipe.model in draft.folders and isinstance(task, DependsOnStartModel):
            task.set_start_model(draft.folders[draft.recipe.model])
        task.splits()
        _ = task.labels
        check_labels_seen(task)
        draft.has_rows = True


def check_labels_seen(task: Task) -> None:
    """A label that only evaluation rows have cannot be learned."""
    if not task.data.has_class_labels:
        return
    for part in ("validation", *task.data.tests):
        gold = task.gold(task.splits()[part])
        unseen = {name for answer in gold for name in (answer if task.answer == "labels" else [answer])}
        unseen -= set(task.labels)
        if unseen:
            more = "take more train rows (data.rows), " if task.rows else ""
            raise InputError(
                f"{task.data.source}: {_these(unseen)} in the {part} rows and not among the train rows' labels "
                f"({', '.join(task.labels[:8])}); {more}drop those rows, or give train rows of them"
            )


def _these(labels: set[str]) -> str:
    return f"label '{min(labels)}'" + (f" and {len(labels) - 1} more are" if len(labels) > 1 else " is")


def check_vectors(draft: Draft, problems: Problems) -> None:
    """The baselines read the file after the last stage; an invalid one is rejected now."""
    if draft.has_rows and draft.is_sound("vectors") and draft.recipe.vectors:
        from niwaki.evaluate.baselines.static import vectors_for

        with problems.collecting():
            vectors_for(draft.task, draft.recipe.vectors)
