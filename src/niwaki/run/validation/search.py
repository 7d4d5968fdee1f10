"""Do the values that a recipe's `[search]` table names fit into the recipe?"""

import copy
from collections.abc import Sequence

from pydantic import ValidationError

from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.settings import faults_of
from niwaki.engines import RUNTIMES
from niwaki.methods._factory import make_method
from niwaki.run.overrides import set_value
from niwaki.run.recipe_settings import Recipe
from niwaki.run.search_settings import OFF, ON


def search_problems(recipe: Recipe) -> list[str]:
    """Reads no data and no model."""
    if recipe.search is None:
        return []
    known = RUNTIMES.names()
    problems = [
        f"search.engines: '{name[:50]}' is not an engine{did_you_mean(name, known)}"
        for name in recipe.search.engines
        if name not in known
    ]
    for path, values in recipe.search.space.items():
        problems += value_problems(recipe, path, values)
    return problems


def value_problems(recipe: Recipe, path: str, values: list[bool | int | float | str]) -> list[str]:
    """Problems of the values to try for the setting at a path."""
    where = f"search.space.'{path[:80]}'"
    parts = path.split(".")
    if parts[0] != "stages" or len(parts) < 4 or parts[2] not in ("methods", "train"):
        return [
            f"{where}: must lead to a setting of a stage, e.g. 'stages.student.train.lr' or "
            "'stages.student.methods.ffn.keep'"
        ]
    if not values:
        return [f"{where}: has no values; give at least one"]
    if len(parts) == 4 and parts[2] == "methods":
        return choice_problems(recipe, where, parts[1], parts[3], values)
    for value in values:
        changed = copy.deepcopy(recipe.model_dump(exclude_none=True, exclude={"search"}))
        try:
            if value != OFF:
                set_value(changed, path, value, where)
            _check(Recipe.model_validate(changed))
        except ValidationError as error:
            return [f"{where}: {faults_of(error, Recipe, '')[0]}"]
        except InputError as error:
            return [fault if fault.startswith(where) else f"{where}: {fault}" for fault in error.faults[:1]]
    return []


def choice_problems(recipe: Recipe, where: str, stage: str, method: str, values: Sequence[object]) -> list[str]:
    """Problems of the choices for a method itself."""
    named = [str(values["use"]) for one in recipe.stages if one.name == stage for values in one.methods]
    if method not in named:
        return [f"{where}: stage '{stage}' has no method '{method}'{did_you_mean(method, named)}"]
    wrong = next((value for value in values if value not in (ON, OFF)), None)
    return [] if wrong is None else [f"{where}: must be '{ON}' or '{OFF}' (given: {str(wrong)[:50]!r})"]


def _check(recipe: Recipe) -> None:
    """Raises InputError if a method has an invalid setting."""
    for stage in recipe.stages:
        for number, method in enumerate(stage.methods):
            make_method(method, f"stages.{stage.name}.methods.{number}")
