"""Changes to a recipe from the command line: `--set key.path=value`."""

import tomllib

from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.json_types import Json


def apply_override(values: Json, override: str) -> None:
    """Applies e.g. `stages.student.train.epochs=1`. Stages are found by name or number; the value is TOML or plain text."""
    path, sign, text = override.partition("=")
    if not sign or not path:
        raise InputError(f"--set {override}: must be key.path=value")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    set_value(values, path.strip(), value, f"--set {override}")


def set_value(values: Json, path: str, value: object, where: str) -> None:
    """Sets the value at a path such as `stages.student.train.epochs`; `where` names it in messages."""
    *parents, last = path.split(".")
    place: object = values
    for part in parents:
        place = _enter(place, part, where)
    if isinstance(place, list):
        place[_number(place, last, where)] = value
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise InputError(f"{where}: '{last}' is below a plain value")


def _enter(place: object, part: str, where: str) -> object:
    if isinstance(place, list):
        return place[_number(place, part, where)]
    if isinstance(place, dict):
        return place.setdefault(part, {})
    raise InputError(f"{where}: '{part}' is below a plain value")


def _number(items: list[object], part: str, where: str) -> int:
    """Finds stages by name, methods by `use`, and both by number."""
    for number, item in enumerate(items):
        if isinstance(item, dict) and part in (item.get("name"), item.get("use"), str(number)):
            return number
    names = [str(item.get("name") or item.get("use")) for item in items if isinstance(item, dict)]
    raise InputError(f"{where}: there is no '{part}'{did_you_mean(part, names)}")
