"""What is tried to compress a model, in order of cost: quantized copies take seconds, recipes train.

A level is a group of stages that are tried together. A shipped recipe becomes one by putting the source model in the place of the
teacher that the recipe would train.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from niwaki.compression.rows import Rows
from niwaki.core import strict_toml
from niwaki.core.errors import InputError, UsageError, did_you_mean
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.core.recipes import recipe_files
from niwaki.methods import METHODS
from niwaki.methods._method import Method
from niwaki.run.estimate import estimate
from niwaki.run.plan import make_plan
from niwaki.run.quantized import COPY_METHODS
from niwaki.run.recipe import parse
from niwaki.run.recipe_settings import Recipe

SOURCE = "source"  # the stage that holds the model to compress
TRAIN: Json = {"epochs": 3, "lr": 2e-4, "dropout": 0.0}  # after a single method that is named without a recipe
COPIES = tuple(COPY_METHODS)
NO_ROWS = "trains, and there are no rows to train on; give rows or texts as data"


@dataclass(frozen=True)
class Level:
    """Stages after the source, and the kinds of quantized copies that are made of every stage."""

    name: str
    stages: tuple[Json, ...] = ()
    copies: tuple[str, ...] = ()

    @property
    def trains(self) -> bool:
        return any(stage.get("train") for stage in self.stages)


def recipe_of(source: Path, rows: Rows, levels: Sequence[Level], seed: int = 0) -> Recipe:
    """One recipe for the source and all levels."""
    stages = [{"name": SOURCE}, *(dict(stage) for level in levels for stage in level.stages)]
    copies = dict.fromkeys(kind for level in levels for kind in level.copies)
    return parse(
        {
            "model": str(source),
            "task": rows.task,
            "data": rows.settings,
            "seed": seed,
            "quantize": list(copies),
            "baselines": False,
            "race": "short",
            "stages": stages,
        }
    )


def named_levels(methods: Sequence[str], rows: Rows) -> list[Level]:
    """The levels that the user names: `int8` and `4bit`, recipes, and methods; what trains comes last."""
    if isinstance(methods, str) or not all(isinstance(name, str) for name in methods) or not methods:
        raise UsageError("methods: must be a list of names, e.g. ['int8', 'own_data']")
    copies = tuple(name for name in COPY_METHODS if name in methods)
    others = [named_level(name, copies) for name in dict.fromkeys(methods) if name not in COPY_METHODS]
    for level in others:
        if level.trains and not rows.can_train:
            raise InputError(f"method '{level.name}': {NO_ROWS}")
    return [*([Level("copies", (), copies)] if copies else []), *sorted(others, key=lambda level: level.trains)]


def named_level(name: str, copies: tuple[str, ...]) -> Level:
    recipes = recipe_files()
    if name in recipes:
        if ends_in_cascade(recipes[name]):
            raise UsageError(
                f"method '{name}': ends in a cascade, and compress makes one model; use `niwaki run {name}`"
            )
        level = level_of_recipe(name, recipes[name], copies)
        if level is None:
            raise UsageError(
                f"method '{name}': this recipe distils no teacher, so it cannot start from a finished model"
            )
        return level
    known = [*COPY_METHODS, *recipes, *METHODS.names()]
    if name not in METHODS.names():
        raise UsageError(f"method '{name}': is neither a method nor a recipe{did_you_mean(name, known)}")
    return Level(name, (stage_of_method(name),), copies)


def stage_of_method(name: str) -> Json:
    """A stage with one method. All but quantization lose accuracy that training with the source as the teacher wins back."""
    stage: Json = {"name": name.replace(".", "-"), "start": SOURCE, "methods": [{"use": name}]}
    if METHODS.entry(name).family == "quantize" and not METHODS.load(name, Method).requires.training:
        return stage
    if name != "logits":
        stage["methods"].append({"use": "logits"})
    return {**stage, "teacher": SOURCE, "train": dict(TRAIN)}


def level_of_recipe(name: str, path: Path, copies: tuple[str, ...]) -> Level | None:
    """The stages of a recipe after its teacher, if its first stage is one. Names of stages get the recipe's name in front."""
    first, *others = strict_toml.load(path)["stages"]
    if not any(first["name"] in _teachers(stage) for stage in others):
        return None
    names = {first["name"]: SOURCE} | {stage["name"]: f"{name}-{stage['name']}" for stage in others}
    previous, stages = SOURCE, []
    for stage in others:
        start = {} if "model" in stage else {"start": names[stage["start"]] if stage.get("start") else previous}
        teachers = {"teacher": [names[one] for one in _teachers(stage)]} if _teachers(stage) else {}
        stages.append({**stage, "name": names[stage["name"]], **start, **teachers})
        previous = names[stage["name"]]
    return Level(name, tuple(stages), copies)


def ends_in_cascade(path: Path) -> bool:
    """Whether a recipe makes a cascade. Its stages are those of another recipe, so they are not tried twice."""
    return "cascade" in strict_toml.load(path)


def _teachers(stage: Json) -> list[str]:
    teacher = stage.get("teacher", [])
    return [teacher] if isinstance(teacher, str) else teacher


def recipe_levels(source: Path, rows: Rows) -> list[tuple[Level, float]]:
    """Every recipe that can compress this model on these rows, with its estimated seconds; the cheapest first."""
    found = []
    for name, path in recipe_files().items() if rows.can_train else ():
        level = None if ends_in_cascade(path) else level_of_recipe(name, path, COPIES)
        if level is None:
            continue
        try:
            seconds = seconds_of(recipe_of(source, rows, [level]))
        except InputError as error:
            info(f"{name}: left out, {error.faults[0]}")
            continue
        found.append((level, seconds))
    return sorted(found, key=lambda one: one[1])


def seconds_of(recipe: Recipe) -> float:
    """The middle of the estimated range."""
    low, high = estimate(make_plan(recipe, "estimate"))["seconds_range"]
    return (low + high) / 2
