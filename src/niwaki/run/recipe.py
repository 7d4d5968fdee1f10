"""A recipe: model, task, stages. Read from TOML, checked strictly, every fault at once and before any work."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from niwaki.core import strict_toml
from niwaki.core.advice import data_option
from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.problems import Problems
from niwaki.core.recipes import recipe_files
from niwaki.core.settings import faults_of
from niwaki.data.dataset_files import reject_unreadable
from niwaki.data.folders import is_spreadsheet, kind_of
from niwaki.run.overrides import apply_override
from niwaki.run.recipe_settings import Recipe
from niwaki.run.validation.validate import recipe_problems

RECIPE = "recipe.toml"  # of a run folder
MAX_ITEMS = {"stages": 200, "seeds": 1000}


def locate(name: str) -> Path:
    """A file that is there, or a shipped recipe of that name."""
    path = Path(name).expanduser()
    known = recipe_files()
    if name not in known:
        reject_data(name, path)
    if path.suffix == ".toml" or "/" in name:
        if not path.is_file():
            raise InputError(f"recipe '{name}': is not there")
        return path
    if name not in known:
        raise InputError(
            f"recipe '{name}': is not known{did_you_mean(name, [*known])}; a file of your own ends in .toml"
        )
    return known[name]


def reject_data(name: str, path: Path) -> None:
    """Rejects rows, or the folder of a run, in the place of a recipe, and says how to give them."""
    if (path / RECIPE).is_file():
        raise InputError(f"recipe '{name}': is the folder of a run; its recipe is {path / RECIPE}")
    if is_spreadsheet(path):
        reject_unreadable(path)
    if kind_of(path) or path.is_dir():
        raise InputError(f"recipe '{name}': is not a recipe; rows of your own are given as {data_option(name)}")


class RecipeError(InputError):
    """A recipe with faults. `partial_recipe` is what is right in it: data and model can be checked all the same."""

    def __init__(self, faults: list[str], partial_recipe: "PartialRecipe | None") -> None:
        super().__init__(faults)
        self.partial_recipe = partial_recipe


class PartialRecipe(NamedTuple):
    """A recipe without its faults, which is not to be run; and the keys that had some."""

    recipe: Recipe
    faulty: frozenset[str]


def read(path: Path, overrides: list[str] | None = None) -> Recipe:
    """The recipe with `key.path=value` overrides applied, or Refused with all its faults."""
    values, problems = strict_toml.load(path), Problems()
    for override in overrides or []:
        with problems.collecting():
            apply_override(values, override)
    for key, most in MAX_ITEMS.items():
        if isinstance(values.get(key), list) and len(values[key]) > most:
            raise InputError(f"{path}: {key} are {len(values[key])}, more than {most}, which no recipe has")
    return _parse(values, problems.faults)


def parse(values: dict[str, Any]) -> Recipe:
    """A recipe of plain values, or Refused with all its faults."""
    return _parse(values, [])


def _parse(values: dict[str, Any], faults: list[str]) -> Recipe:
    """`faults` are those that were found before."""
    try:
        recipe, faulty, stages = Recipe.model_validate(values), set[str](), set[int]()
    except ValidationError as error:
        faults = [*faults, *faults_of(error, Recipe, "")]
        places = [entry["loc"] for entry in error.errors(include_url=False)]
        faulty = {str(place[0]) for place in places if place}
        stages = {int(place[1]) for place in places if place[:1] == ("stages",) and len(place) > 1}
        partial = _without(values, faulty, stages)
        if partial is None:
            raise RecipeError(faults, None) from None
        recipe = partial
    found = recipe_problems(recipe, faulty, stages)
    faults = [*faults, *(problem for problems in found.values() for problem in problems)]
    if faults:
        raise RecipeError(
            faults, PartialRecipe(recipe, frozenset(faulty | {key for key, problems in found.items() if problems}))
        )
    return recipe


def _without(values: dict[str, Any], keys: set[str], stages: set[int]) -> Recipe | None:
    """The recipe without what is wrong in it: other keys have their defaults, a stage has its name and methods. None where that
    is no recipe either."""
    given = values.get("stages")
    listed = given if isinstance(given, list) and given else [{}]
    kept = [
        _stage_without(number, one) if number in stages or not isinstance(one, dict) else one
        for number, one in enumerate(listed)
    ]
    rest = {key: value for key, value in values.items() if key not in keys}
    try:
        return Recipe.model_validate({**rest, "stages": kept})
    except ValidationError:
        return None


def _stage_without(number: int, stage: Any) -> dict[str, Any]:
    name, methods = (stage.get(key) for key in ("name", "methods")) if isinstance(stage, dict) else (None, None)
    listed = methods if isinstance(methods, list) and all(isinstance(one, dict) for one in methods) else []
    return {"name": name if isinstance(name, str) else str(number), "methods": listed}


def to_toml(recipe: Recipe) -> str:
    """The recipe with its overrides and defaults, as TOML that gives the same recipe when read."""
    top = recipe.model_dump(exclude={"stages"}, exclude_none=True)
    lines = [f"{key} = {_toml(value)}" for key, value in top.items()]
    for stage in recipe.stages:
        lines += ["", "[[stages]]"]
        lines += [f"{key} = {_toml(value)}" for key, value in stage.model_dump(exclude_none=True).items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items() if item is not None) + " }"
        )
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    # strings, numbers and booleans are written alike in both, but for one character that TOML wants escaped
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
