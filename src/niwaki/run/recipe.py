"""A recipe: model, task, stages. Read from TOML, checked strictly, every fault at once and before any work."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from niwaki.core import strict_toml
from niwaki.core.advice import data_option
from niwaki.core.errors import NiwakiError, Refused, did_you_mean
from niwaki.core.files import SHIPPED_RECIPES
from niwaki.core.settings import Settings, check, faults_of, setting
from niwaki.data.files import refuse_unreadable
from niwaki.data.folders import is_spreadsheet, kind_of
from niwaki.meter import Window, meter
from niwaki.methods import METHODS
from niwaki.methods._method import Method, answers_trained
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from niwaki.train.settings import TrainSettings

RECIPE = "recipe.toml"  # of a run folder
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
MOST = {"stages": 200, "seeds": 1000}
RESERVED = ("baseline", "race", "reference")  # the ledger and the race use these names themselves


class Stage(Settings):
    name: str = setting(..., "what the stage is called")
    start: str = setting("", "stage whose model it starts from; none takes the stage before, or the recipe's model")
    model: str = setting("", "another pretrained model that it starts from instead: embedded name, folder, or Hugging Face id")  # fmt: skip
    teacher: str | list[str] = setting("", "stage whose model teaches; of several, the mean of their logits does")
    methods: list[dict[str, Any]] = setting([], "what is done, in this order: { use = name, setting = value … }")
    train: TrainSettings | None = setting(None, "how it is trained; none trains nothing")

    @property
    def teachers(self) -> list[str]:
        named = [self.teacher] if isinstance(self.teacher, str) else self.teacher
        return [name for name in named if name]


class CacheSettings(Settings):
    """Where and how long what teachers said is kept. Nothing that is made depends on it."""

    folder: str = setting("", "where it lies; none takes `.teachers` beside the run folder, which all runs there share")
    gigabytes: float = setting(
        20.0, "at most this much; a stage that needs more asks its teacher at every step", ge=0, le=1e6
    )


class MeterSettings(Settings):
    place: str | float = setting("", "country (ISO 3166 code or name) or g CO2e/kWh; none leaves CO2e unknown")
    pue: str | float = setting("", "overhead of the data centre: a number, or a name in the meter's table")
    price: str | float = setting("", "dollars per vCPU-hour, or a name in the meter's table; none leaves money unknown")

    def window(self) -> Window:
        place, pue, price = (None if value == "" else value for value in (self.place, self.pue, self.price))
        return meter(place=place, pue=pue, price=price)


class Recipe(Settings):
    model: str = setting("minilm", "embedded name, folder, or Hugging Face id")
    task: str = setting("rotten_tomatoes", "name of a task")
    data: dict[str, Any] = setting({}, "settings of the task")
    seed: int = setting(0, "everything random follows from it", ge=0, lt=2**31)
    seeds: list[int] = setting([], "several seeds: every stage is made with each, and the report tells their spread")
    meter: MeterSettings = setting(MeterSettings(), "where the electricity comes from and what it costs")
    vectors: str = setting("", "file of word vectors, as GloVe's, for the baseline; none takes the model's own table")
    quantize: list[Literal["int8", "4bit"]] = setting(["int8", "4bit"], "training-free quantized copies that are made of every stage, and scored; [] makes none")  # fmt: skip
    cache: CacheSettings = setting(CacheSettings(), "where what teachers said is kept, and how much of it")
    stages: list[Stage] = setting(..., "what is made, one after the other", min_length=1)

    def make_task(self) -> Task:
        return check(TASKS.load(self.task, Task), self.data, "data")

    def make_methods(self, stage: Stage) -> list[Method]:
        return [make_method(values, "") for values in stage.methods]


def locate(name: str) -> Path:
    """A file that is there, or a shipped recipe of that name."""
    path = Path(name).expanduser()
    known = [path.stem for path in SHIPPED_RECIPES.glob("*.toml")]
    if name not in known:
        refuse_rows(name, path)
    if path.suffix == ".toml" or "/" in name:
        if not path.is_file():
            raise Refused(f"recipe '{name}': is not there")
        return path
    if name not in known:
        raise Refused(f"recipe '{name}': is not known{did_you_mean(name, known)}; a file of your own ends in .toml")
    return SHIPPED_RECIPES / f"{name}.toml"


def refuse_rows(name: str, path: Path) -> None:
    """Rejects rows, or the folder of a run, in the place of a recipe, and says how to give them."""
    if (path / RECIPE).is_file():
        raise Refused(f"recipe '{name}': is the folder of a run; its recipe is {path / RECIPE}")
    if is_spreadsheet(path):
        refuse_unreadable(path)
    if kind_of(path) or path.is_dir():
        raise Refused(f"recipe '{name}': is not a recipe; rows of your own are given as {data_option(name)}")


def read(path: Path, overrides: list[str] | None = None) -> Recipe:
    """The recipe with `key.path=value` overrides applied, or Refused with all its faults."""
    values = strict_toml.read(path)
    for override in overrides or []:
        apply_override(values, override)
    for key, most in MOST.items():
        if isinstance(values.get(key), list) and len(values[key]) > most:
            raise Refused(f"{path}: {key} are {len(values[key])}, more than {most}, which no recipe has")
    return parse(values)


def parse(values: dict[str, Any]) -> Recipe:
    try:
        recipe = Recipe.model_validate(values)
    except ValidationError as error:
        raise Refused(faults_of(error, Recipe, "")) from None
    faults = [
        *_name_faults(recipe),
        *_task_faults(recipe),
        *_meter_faults(recipe),
        *_vector_faults(recipe),
        *_stage_faults(recipe),
    ]
    if faults:
        raise Refused(faults)
    return recipe


def make_method(values: dict[str, Any], path: str) -> Method:
    """The method that `{ use = …, … }` describes."""
    name = values.get("use")
    if not isinstance(name, str):
        raise Refused(f"{path}: needs the key 'use' with the name of a method; there is: {', '.join(METHODS.names())}")
    try:
        kind = METHODS.load(name, Method)
    except Refused as error:
        raise Refused(f"{path}.use: {error}") from None
    return check(kind, {key: value for key, value in values.items() if key != "use"}, path)


def _name_faults(recipe: Recipe) -> list[str]:
    faults: list[str] = []
    seen: set[str] = set()
    for number, stage in enumerate(recipe.stages):
        if not NAME.fullmatch(stage.name):
            faults.append(
                f"stages.{number}.name: '{stage.name[:50]}' must be small letters, digits, - or _, at most 41"
            )
        elif stage.name in RESERVED:
            faults.append(f"stages.{number}.name: '{stage.name}' is taken by niwaki itself; choose another")
        elif stage.name in seen:
            faults.append(f"stages.{number}.name: '{stage.name}' is used twice; give each stage a name of its own")
        for key, wanted in (("start", stage.start), *(("teacher", name) for name in stage.teachers)):
            if wanted and wanted not in seen:
                faults.append(
                    f"stages.{number}.{key}: '{wanted[:50]}' is not an earlier stage (there is: {', '.join(sorted(seen)) or 'none'})"
                )
        if stage.start and stage.model:
            faults.append(f"stages.{number}: has both start and model; a stage starts from one of them")
        seen.add(stage.name)
    return faults


def _task_faults(recipe: Recipe) -> list[str]:
    try:
        recipe.make_task()
    except Refused as error:
        return [f"task: {fault}" if "is not known" in fault else fault for fault in error.faults]
    return []


def _meter_faults(recipe: Recipe) -> list[str]:
    try:
        recipe.meter.window()
    except NiwakiError as error:
        return [f"meter.{error}"]
    return []


def _vector_faults(recipe: Recipe) -> list[str]:
    there = not recipe.vectors or Path(recipe.vectors).expanduser().is_file()
    return [] if there else [f"vectors: {recipe.vectors}: is not there"]


def _stage_faults(recipe: Recipe) -> list[str]:
    faults = []
    for number, stage in enumerate(recipe.stages):
        faults += [f"stages.{number}.train.{fault}" for fault in _train_faults(stage)]
        made: list[Method] = []
        for place, values in enumerate(stage.methods):
            path = f"stages.{number}.methods.{place}"
            try:
                method = make_method(values, path)
            except Refused as error:
                faults += error.faults
                continue
            made.append(method)
            earlier = [before.name for before in recipe.stages[:number]]
            faults += [
                f"{path}: '{name[:50]}' is not an earlier stage (there is: {', '.join(earlier) or 'none'})"
                for name in method.stages
                if name and name not in earlier
            ]
            if method.needs_teacher and not stage.teachers:
                faults.append(
                    f"{path}: '{values['use']}' needs a teacher; name an earlier stage in stages.{number}.teacher"
                )
            if method.needs and method.needs_teacher and len(stage.teachers) > 1:
                faults.append(
                    f"{path}: '{values['use']}' follows the layers of one teacher, and stages.{number}.teacher names "
                    f"{len(stage.teachers)}; name one, or distil with 'logits'"
                )
            if method.needs_training and not stage.train:
                faults.append(
                    f"{path}: '{values['use']}' acts while training; give the stage a train block, e.g. train = {{ epochs = 1 }}"
                )
        known = len(made) == len(stage.methods)
        heard = any(method.needs_teacher or method.may_have_teacher for method in made)
        if stage.teachers and stage.train and known and not heard:
            faults.append(f"stages.{number}.teacher: no method of the stage listens to it; add one that does, e.g. {{ use = 'logits' }}")  # fmt: skip
        if stage.teachers and not stage.train and known and not any(method.needs_training for method in made):
            faults.append(f"stages.{number}.teacher: nothing is learnt from it without a train block; add one, e.g. train = {{ epochs = 1 }}, or leave the teacher out")  # fmt: skip
        if stage.train and stage.train.patience and not answers_trained(made, stage.train.labelled):
            faults.append(f"stages.{number}.train.patience: nothing in the stage trains answers, so no score tells when to stop; leave it out")  # fmt: skip
    return faults


def _train_faults(stage: Stage) -> list[str]:
    train = stage.train
    if train is None:
        return []
    mending = "name one in `teacher`"
    faults = [
        f"{key}: unlabelled texts need a teacher; {mending}"
        for key in ("transfer", "augment")
        if getattr(train, key) and not stage.teachers
    ]
    if train.texts and not train.transfer:
        faults.append("texts: are drawn by `transfer`, which is 0; say how many")
    if train.texts and not Path(train.texts).expanduser().exists():
        faults.append(f"texts: {train.texts}: is not there")
    if not train.labelled and not (train.transfer or train.augment):
        faults.append("labelled: is false, and there are no other texts; set transfer (or augment)")
    return faults


def apply_override(values: dict[str, Any], override: str) -> None:
    """`stages.student.train.epochs=1`: stages are found by name or number; the value is TOML, or else plain text."""
    path, sign, text = override.partition("=")
    if not sign or not path:
        raise Refused(f"--set {override}: must be key.path=value")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    *parents, last = path.strip().split(".")
    place: Any = values
    for part in parents:
        place = _enter(place, part, override)
    if isinstance(place, list):
        place[_number(place, last, override)] = value
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise Refused(f"--set {override}: '{last}' lies below a plain value")


def _enter(place: Any, part: str, override: str) -> Any:
    if isinstance(place, list):
        return place[_number(place, part, override)]
    if isinstance(place, dict):
        return place.setdefault(part, {})
    raise Refused(f"--set {override}: '{part}' lies below a plain value")


def _number(items: list[Any], part: str, override: str) -> int:
    """Stages are known by their name, methods by what they use, everything by its number."""
    for number, item in enumerate(items):
        if isinstance(item, dict) and part in (item.get("name"), item.get("use"), str(number)):
            return number
    names = [str(item.get("name") or item.get("use")) for item in items if isinstance(item, dict)]
    raise Refused(f"--set {override}: there is no '{part}'{did_you_mean(part, names)}")


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
