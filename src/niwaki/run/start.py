"""Runs or checks a recipe with overrides and the user's own data."""

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError
from niwaki.core.gc_pause import without_gc
from niwaki.core.json_types import Json
from niwaki.core.problems import Problems
from niwaki.run.given_data import in_memory, rows_on_disk, with_own_rows
from niwaki.run.result import Run

if TYPE_CHECKING:
    from niwaki.run.recipe_settings import Recipe

RUNS = Path("runs")
EXAMPLE, OWN_DATA, SEQ2SEQ = "rotten_tomatoes", "own_data", "seq2seq"  # default recipes


def run(
    recipe: str | Path = "",
    *,
    out: str | Path | None = None,
    overrides: Sequence[str] = (),
    data: object = "",
    y: object = None,
    stages_only: bool = False,
) -> Run:
    """Runs a recipe (the name of a shipped one, or a .toml file) and returns the result. Finished stages are reused.

    `data` replaces the recipe's rows by your own labelled ones: a file, a folder, a Hugging Face id, a DataFrame, a Dataset, a list of
    dicts, or texts with the labels `y`. The task is recognized by their columns, unless `task=…` is among the overrides. Without a
    recipe, the recipe for your own rows is run, or without data the example. Processes that torchrun started train together.
    With `stages_only` it ends after the last stage: for helpers that share the stages of a run.
    """
    from niwaki.run import processes
    from niwaki.run.launcher import started

    if started() == 1:
        return _run(recipe, out, overrides, data, y, stages_only)
    with processes.joined() as group:
        if group.own:
            return Run(*group.follow())
        found = _run(recipe, out, overrides, data, y, stages_only)
        group.finish(found.folder, found.report)
        return found


def _run(
    recipe: str | Path, out: str | Path | None, overrides: Sequence[str], data: object, y: object, stages_only: bool
) -> Run:
    from niwaki.run.runner import execute

    with rows_on_disk(data, y) as path:
        found, name = read_recipe(recipe, overrides, path)
        folder = Path(out) if out else RUNS / name
        if not in_memory(data):
            return Run(folder, execute(found, name, folder, stages_only=stages_only))
        with with_own_rows(found, Path(path), folder) as own:
            return Run(folder, execute(own, name, folder, stages_only=stages_only))


def check(
    recipe: str | Path = "",
    *,
    overrides: Sequence[str] = (),
    data: object = "",
    y: object = None,
    labels: bool = False,
) -> Json:
    """Validates a recipe and estimates what it needs. Trains and writes nothing. With `labels`, a linear model also estimates how many
    training labels are wrong, and lists the most suspicious rows."""
    with without_gc(), rows_on_disk(data, y) as path:
        from niwaki.run.estimate import estimate
        from niwaki.run.plan import make_plan

        plan = make_plan(*read_recipe(recipe, overrides, path))
        noise = {}
        if labels:
            from niwaki.evaluate.label_noise import label_noise

            noise = {"label_noise": label_noise(plan.task, plan.model_folder)}
        return {**plan.to_json(), "estimate": estimate(plan), **noise}


def read_recipe(recipe: str | Path, overrides: Sequence[str], data: str | Path) -> "tuple[Recipe, str]":
    """The recipe, with `data` instead of its rows, and the run's name. Raises InputError with the problems of the recipe and of the
    data and models that it names."""
    from niwaki.run.recipe import PartialRecipe, RecipeError, read
    from niwaki.run.validation.validate import check_inputs

    problems, resolved = Problems(), None
    with problems.collecting():
        resolved = resolve(recipe, overrides, data, problems)
    if resolved is None:
        raise InputError(problems.faults)
    path, name, settings = resolved
    faulty = frozenset(["data"] if problems.faults else [])
    try:
        partial_recipe: PartialRecipe | None = PartialRecipe(read(path, settings), faulty)
    except RecipeError as error:
        problems.add(error.faults)
        partial_recipe = error.partial_recipe
    if problems.faults or partial_recipe is None:
        if partial_recipe:
            check_inputs(partial_recipe.recipe, problems, partial_recipe.faulty | faulty)
        raise InputError(problems.faults)
    return partial_recipe.recipe, name


def resolve(
    recipe: str | Path, overrides: Sequence[str], data: str | Path, problems: Problems
) -> tuple[Path, str, list[str]]:
    """The recipe's file, the run's name, and the overrides, preceded by those for `data`. If the rows cannot be read, the task is
    classification, so that the rest can be checked."""
    from niwaki.run.recipe import locate

    if not data:
        path = locate(str(recipe) or EXAMPLE)
        return path, path.stem, list(overrides)
    if recipe and reads_plain_texts(str(recipe)):
        path = locate(str(recipe))
        return path, f"{Path(data).stem}-{path.stem}", [f"data.path={json.dumps(str(data))}", *overrides]
    task = "classification"
    with problems.collecting():
        task = infer_task(str(data), overrides)
    path = locate(str(recipe) or (SEQ2SEQ if is_generation_task(task) else OWN_DATA))
    return path, f"{Path(data).stem}-{path.stem}", [*rows_of(str(data), task), *overrides]


def data_overrides(data: str, overrides: Sequence[str]) -> list[str]:
    """Overrides that replace a recipe's rows by the user's: the task, unless an override names it, and the path."""
    return rows_of(data, infer_task(data, overrides))


def rows_of(data: str, task: str) -> list[str]:
    return [f"task={json.dumps(task)}", f"data={{ path = {json.dumps(data)} }}"]


def reads_plain_texts(recipe: str) -> bool:
    """Whether the recipe's task needs no labels, so that its rows have no columns from which a task could be inferred."""
    from niwaki.core import strict_toml
    from niwaki.run.recipe import locate
    from niwaki.tasks import TASKS
    from niwaki.tasks._language_model_task import LanguageModelTask
    from niwaki.tasks._task import Task

    try:
        task = strict_toml.load(locate(recipe)).get("task")
    except InputError:  # reported when the recipe is read, together with problems of the rows
        return False
    return task in TASKS.names() and issubclass(TASKS.load(str(task), Task), LanguageModelTask)


def is_generation_task(task: str) -> bool:
    """Whether the task is answered with a text."""
    from niwaki.tasks import TASKS
    from niwaki.tasks._task import Task

    return task in TASKS.names() and TASKS.load(task, Task).answer == "text"


def infer_task(data: str, overrides: Sequence[str]) -> str:
    """The task of the user's rows: from an override, or else from the columns."""
    from niwaki.run.overrides import apply_override
    from niwaki.tasks._detect_task import recognise

    values: Json = {"data": {}}
    for override in overrides:
        with contextlib.suppress(InputError):  # reported when the recipe is read
            apply_override(values, override)
    try:
        return str(values["task"]) if "task" in values else recognise(data, _columns(values["data"]))
    except InputError as error:
        raise InputError([fault if data in fault else f"{data}: {fault}" for fault in error.faults]) from None


def _columns(settings: object) -> dict[str, str]:
    """The data settings that name columns, which help to detect the task."""
    from niwaki.data.columns import ROLES

    roles = {role for of_kind in ROLES.values() for role in of_kind}
    named = {role: value for role, value in settings.items() if role in roles} if isinstance(settings, dict) else {}
    return {role: ",".join(map(str, value)) if isinstance(value, list) else str(value) for role, value in named.items()}
