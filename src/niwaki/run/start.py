"""From what a user says (a recipe, overrides, rows of their own) to a run, or to a check of one."""

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from niwaki.core.errors import InputError
from niwaki.core.gc_pause import without_gc
from niwaki.core.problems import Problems
from niwaki.run.result import Run

if TYPE_CHECKING:
    from niwaki.run.recipe_settings import Recipe

RUNS = Path("runs")
EXAMPLE, OWN_DATA, SEQ2SEQ = "rotten_tomatoes", "own_data", "seq2seq"  # recipes that are run where none is named


def run(
    recipe: str | Path = "",
    *,
    out: str | Path | None = None,
    overrides: Sequence[str] = (),
    data: str | Path = "",
) -> Run:
    """Runs a recipe (a shipped one by name, or a .toml file) and gives what came of it. Finished stages are not made again.

    None named is the example, or with `data` the recipe for rows of your own. `data` puts your own labelled rows (a file, a folder, a Hugging Face id) in the place of the recipe's; what kind of task
    they are for is read off their columns, unless `task=…` is among the overrides.
    """
    from niwaki.run.runner import execute

    found, name = read_recipe(recipe, overrides, data)
    folder = Path(out) if out else RUNS / name
    return Run(folder, execute(found, name, folder))


def check(recipe: str | Path = "", *, overrides: Sequence[str] = (), data: str | Path = "") -> dict[str, Any]:
    """Validates a recipe and says what it would do, need and take. Does no work."""
    with without_gc():
        from niwaki.run.estimate import estimate
        from niwaki.run.plan import make_plan

        plan = make_plan(*read_recipe(recipe, overrides, data))
        return {**plan.to_json(), "estimate": estimate(plan)}


def read_recipe(recipe: str | Path, overrides: Sequence[str], data: str | Path) -> "tuple[Recipe, str]":
    """The recipe, with `data` in the place of its rows, and the run's name. Refused with the faults of the recipe, and with those of
    the data and models that it names."""
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
    """The recipe's file, the run's name, and the overrides with `data` among them (before the user's own, which may refine it).
    Where the rows cannot be read the recipe is one for labelled texts, so that the rest can be checked."""
    from niwaki.run.recipe import locate

    if not data:
        path = locate(str(recipe) or EXAMPLE)
        return path, path.stem, list(overrides)
    task = "classification"
    with problems.collecting():
        task = infer_task(str(data), overrides)
    path = locate(str(recipe) or (SEQ2SEQ if is_generation_task(task) else OWN_DATA))
    return path, f"{Path(data).stem}-{path.stem}", [*rows_of(str(data), task), *overrides]


def data_overrides(data: str, overrides: Sequence[str]) -> list[str]:
    """Overrides that put a user's rows in the place of a recipe's: their task, unless it is named, and where they lie."""
    return rows_of(data, infer_task(data, overrides))


def rows_of(data: str, task: str) -> list[str]:
    return [f"task={json.dumps(task)}", f"data={{ path = {json.dumps(data)} }}"]


def is_generation_task(task: str) -> bool:
    """Whether the task is answered with a text."""
    from niwaki.tasks import TASKS
    from niwaki.tasks._task import Task

    return task in TASKS.names() and TASKS.load(task, Task).answer == "text"


def infer_task(data: str, overrides: Sequence[str]) -> str:
    """The task of a user's rows: as he names it, else as their columns tell."""
    from niwaki.run.overrides import apply_override
    from niwaki.tasks._detect_task import recognise

    said: dict[str, Any] = {"data": {}}
    for override in overrides:
        with contextlib.suppress(InputError):  # a fault in an override is told where the recipe is read
            apply_override(said, override)
    try:
        return str(said["task"]) if "task" in said else recognise(data, _columns(said["data"]))
    except InputError as error:
        raise InputError([fault if data in fault else f"{data}: {fault}" for fault in error.faults]) from None


def _columns(settings: Any) -> dict[str, str]:
    """Of settings of the data, those that name columns; they help to tell what the rows are for."""
    from niwaki.data.columns import ROLES

    roles = {role for of_kind in ROLES.values() for role in of_kind}
    named = {role: value for role, value in settings.items() if role in roles} if isinstance(settings, dict) else {}
    return {role: ",".join(map(str, value)) if isinstance(value, list) else str(value) for role, value in named.items()}
