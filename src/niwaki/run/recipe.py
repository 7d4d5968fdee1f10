"""Reads recipes from TOML and writes them. All problems of a recipe are reported at once."""

import json
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from niwaki.core import strict_toml
from niwaki.core.advice import data_option
from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.json_types import Json
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
    """The path of a recipe file, or of the shipped recipe of that name."""
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
    """Rejects data or a run folder given as a recipe, and says how to pass them."""
    if (path / RECIPE).is_file():
        raise InputError(f"recipe '{name}': is the folder of a run; its recipe is {path / RECIPE}")
    if is_spreadsheet(path):
        reject_unreadable(path)
    if kind_of(path) or path.is_dir():
        raise InputError(f"recipe '{name}': is not a recipe; rows of your own are given as {data_option(name)}")


class RecipeError(InputError):
    """An invalid recipe. `partial_recipe` holds its valid part, so that data and models can still be checked."""

    def __init__(self, faults: list[str], partial_recipe: "PartialRecipe | None") -> None:
        super().__init__(faults)
        self.partial_recipe = partial_recipe


class PartialRecipe(NamedTuple):
    """The valid part of a recipe, only for further checks, and the keys that have problems."""

    recipe: Recipe
    faulty: frozenset[str]


def read(path: Path, overrides: list[str] | None = None) -> Recipe:
    """The recipe with `key.path=value` overrides applied. Raises InputError with all problems."""
    values, problems = strict_toml.load(path), Problems()
    for override in overrides or []:
        with problems.collecting():
            apply_override(values, override)
    for key, most in MAX_ITEMS.items():
        if isinstance(values.get(key), list) and len(values[key]) > most:
            raise InputError(f"{path}: {key} are {len(values[key])}, more than the maximum of {most}")
    return _parse(values, problems.faults)


def parse(values: Json) -> Recipe:
    """A recipe from plain values. Raises InputError with all problems."""
    return _parse(values, [])


def _parse(values: Json, faults: list[str]) -> Recipe:
    """`faults` are problems that were found before."""
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


def _without(values: Json, keys: set[str], stages: set[int]) -> Recipe | None:
    """The recipe with defaults for faulty keys, and only names and methods for faulty stages. None if that is not valid either."""
    given = values.get("stages")
    listed = given if isinstance(given, list) and given else [{}]
    remaining = [
        _stage_without(number, stage) if number in stages or not isinstance(stage, dict) else stage
        for number, stage in enumerate(listed)
    ]
    rest = {key: value for key, value in values.items() if key not in keys}
    try:
        return Recipe.model_validate({**rest, "stages": remaining})
    except ValidationError:
        return None


def _stage_without(number: int, stage: object) -> Json:
    name, methods = (stage.get(key) for key in ("name", "methods")) if isinstance(stage, dict) else (None, None)
    listed = methods if isinstance(methods, list) and all(isinstance(method, dict) for method in methods) else []
    return {"name": name if isinstance(name, str) else str(number), "methods": listed}


def to_toml(recipe: Recipe) -> str:
    """The recipe with overrides and defaults as TOML. Reading it gives the same recipe."""
    top = recipe.model_dump(exclude={"stages"}, exclude_none=True)
    lines = [f"{key} = {_toml(value)}" for key, value in top.items()]
    for stage in recipe.stages:
        lines += ["", "[[stages]]"]
        lines += [f"{key} = {_toml(value)}" for key, value in stage.model_dump(exclude_none=True).items()]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items() if item is not None) + " }"
        )
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    # TOML and JSON write strings, numbers and booleans alike, except for DEL, which TOML escapes
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
