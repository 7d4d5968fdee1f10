"""The recipe of one point of a space, and how the last training is cut into parts.

A trial that is among the worse half after a part of its last training ends there. Each part is a stage that continues the one before,
so nothing is trained twice, and a part is in the stage store like any other stage.
"""

import copy
import re
from collections.abc import Sequence

from niwaki.core.json_types import Json
from niwaki.core.settings import tuned
from niwaki.methods import METHODS
from niwaki.methods._method import Bakes, Method, Reshapes, Schedules
from niwaki.run.overrides import set_value
from niwaki.run.quantized import COPY_METHODS
from niwaki.run.recipe import parse
from niwaki.run.recipe_settings import Recipe
from niwaki.run.search_settings import OFF
from niwaki.search.space import Point, Space
from niwaki.train.settings import TrainSettings

FLOAT = "float"
PART = "part"


def recipe_of(space: Space, point: Point, halvings: int = 0, copies: Sequence[str] = ()) -> Recipe:
    """The source, the stages of the point, and copies of the last one."""
    stages = {stage["name"]: copy.deepcopy(stage) for stage in space.base["stages"]}
    chosen = [stages[name] for name in space.stages_of(point)]
    for stage in chosen:
        set_methods(stage, space, point)
    if chosen:
        chosen = [*chosen[:-1], *parts_of(chosen[-1], halvings)]
    listed = [stages[space.source], *chosen]
    listed += [copy_of(str(listed[-1]["name"]), kind) for kind in copies if kind != FLOAT]
    return parse({**space.base, "quantize": [], "baselines": False, "race": "short", "stages": listed})


def copy_of(stage: str, kind: str) -> Json:
    return {"name": copy_name(stage, kind), "start": stage, "methods": [dict(COPY_METHODS[kind])]}


def copy_name(stage: str, kind: str) -> str:
    return stage if kind == FLOAT else f"{stage}-{kind}"


def set_methods(stage: Json, space: Space, point: Point) -> None:
    """Sets what the point says, and leaves out methods that are off."""
    searched = {dimension.path for dimension in space.dimensions if dimension.stage == stage["name"]}
    kept = []
    for method in stage.get("methods", ()):
        path = f"stages.{stage['name']}.methods.{method['use']}"
        own = [name for name in tuned(METHODS.load(method["use"], Method)) if f"{path}.{name}" in searched]
        values = {name: point[f"{path}.{name}"] for name in own}
        if point.get(path) == OFF or (values and all(value == OFF for value in values.values())):
            continue
        kept.append({key: value for key, value in method.items() if values.get(key) != OFF})
    stage["methods"] = kept
    there = {method["use"] for method in kept}
    for path in searched:
        parts = path.split(".")
        is_setting = len(parts) > (4 if parts[2] == "methods" else 3)  # and not a method itself
        if is_setting and point[path] != OFF and (parts[2] != "methods" or parts[3] in there):
            set_value({"stages": [stage]}, path, point[path], path)


def parts_of(stage: Json, halvings: int) -> list[Json]:
    """A stage whose training is cut: 1/4, 1/4 and 1/2 of the epochs for two halvings."""
    train = stage.get("train")
    if not halvings or not train or not can_be_cut(stage):
        return [stage]
    epochs = TrainSettings.model_validate(train).epochs
    shares = [0.5**halvings, *(0.5**number for number in range(halvings, 0, -1))]
    found: list[Json] = []
    for number, share in enumerate(shares):
        part: Json = {**stage, "train": {**train, "epochs": epochs * share}}
        if number:
            continued = [method for method in part["methods"] if not _kind(method).requires.reduces]
            name = f"{stage['name']}-{PART}{number + 1}"
            part |= {"name": name, "start": found[-1]["name"], "methods": continued, "replica": number}
        found.append(part)
    return found


def can_be_cut(stage: Json) -> bool:
    """Whether a later part trains like the first: its methods act on the model before training, or on the loss, and nothing else."""
    if stage.get("alternatives") or stage.get("tasks") or stage["train"].get("auto") or stage.get("replica"):
        return False
    return all(_continues(_kind(method)) for method in stage.get("methods", ()))


def _continues(kind: type[Method]) -> bool:
    if issubclass(kind, Bakes | Schedules):
        return False
    return bool(kind.requires.reduces) or not issubclass(kind, Reshapes)


def _kind(method: Json) -> type[Method]:
    return METHODS.load(method["use"], Method)


def parts_in(recipe: Recipe, last: str) -> list[str]:
    """The names of the parts of the last training, or of the last stage alone; `last` is the name of the stage in the space."""
    is_part = re.compile(rf"{re.escape(last)}(-{PART}\d+)?").fullmatch
    return [stage.name for stage in recipe.stages if is_part(stage.name)]
