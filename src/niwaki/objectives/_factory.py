"""Objectives as recipes name them: by name, or as a table with settings."""

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.settings import Settings, check
from niwaki.objectives import OBJECTIVES
from niwaki.objectives._objective import LabelledTask, Objective


def objective_name(given: str | Json) -> str:
    """`given` is a name, or { use = "name", setting = value … }."""
    name = given if isinstance(given, str) else given.get("use")
    if not isinstance(name, str):
        raise InputError("objective: a table names its objective in `use`, e.g. { use = 'masked_lm', rate = 0.3 }")
    if name not in OBJECTIVES:
        OBJECTIVES.entry(name)  # raises an error that names the objectives there are
    return name


def objective_settings(given: str | Json) -> list[Json]:
    """Its settings with all defaults, for stage keys; none for an objective without settings."""
    found = _settings(given).model_dump()
    return [found] if found else []


def make_objective(given: str | Json, task: LabelledTask) -> Objective:
    """The objective for a task, or InputError with all problems of its settings."""
    settings = _settings(given)
    return OBJECTIVES.load(objective_name(given), Objective)(task, settings)


def objective_problems(given: str | Json) -> list[str]:
    """Problems of the name and the settings."""
    try:
        _settings(given)
    except InputError as error:
        return [
            fault if fault.startswith(("objective.", "objective:")) else f"objective: {fault}" for fault in error.faults
        ]
    return []


def _settings(given: str | Json) -> Settings:
    kind = OBJECTIVES.load(objective_name(given), Objective)
    values = {} if isinstance(given, str) else {key: value for key, value in given.items() if key != "use"}
    return check(kind.settings, values, "objective")
