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
    *parents, last = path.strip().split(".")
    place: object = values
    for part in parents:
        place = _enter(place, part, override)
    if isinstance(place, list):
        place[_number(place, last, override)] = value
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise InputError(f"--set {override}: '{last}' is below a plain value")


def _enter(place: object, part: str, override: str) -> object:
    if isinstance(place, list):
        return place[_number(place, part, override)]
    if isinstance(place, dict):
        return place.setdefault(part, {})
    raise InputError(f"--set {override}: '{part}' is below a plain value")


def _number(items: list[object], part: str, override: str) -> int:
    """Finds stages by name, methods by `use`, and both by number."""
    for number, item in enumerate(items):
        if isinstance(item, dict) and part in (item.get("name"), item.get("use"), str(number)):
            return number
    names = [str(item.get("name") or item.get("use")) for item in items if isinstance(item, dict)]
    raise InputError(f"--set {override}: there is no '{part}'{did_you_mean(part, names)}")
