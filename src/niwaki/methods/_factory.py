"""Creates methods from recipe entries."""

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.settings import check
from niwaki.methods import METHODS
from niwaki.methods._method import Method


def make_method(values: Json, path: str) -> Method:
    """The method of an entry `{ use = …, … }`; `path` is the place of the entry in the recipe, for messages."""
    name = values.get("use")
    if not isinstance(name, str):
        raise InputError(
            f"{path}: needs the key 'use' with the name of a method; there is: {', '.join(METHODS.names())}"
        )
    try:
        kind = METHODS.load(name, Method)
    except InputError as error:
        raise InputError(f"{path}.use: {error}") from None
    return check(kind, {key: value for key, value in values.items() if key != "use"}, path)
