"""TOML from strangers: bounded in bytes, values and the length of keys, which the standard reader takes the square of."""

import re
import tomllib
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.strict_json import read_bytes

MAX_BYTES = 256 << 10
MAX_VALUES = 20_000
MAX_KEY_PARTS = 64
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')


def load(path: Path) -> Json:
    """The file's tables, or InputError in one line that names the file."""
    try:
        text = read_bytes(path, MAX_BYTES).decode("utf-8")
        if text.count(",") + text.count("[") + text.count("=") > MAX_VALUES:
            raise InputError(f"{path}: holds more than {MAX_VALUES} values, which no recipe does")
        if max(map(key_parts, text.splitlines()), default=0) > MAX_KEY_PARTS:
            raise InputError(f"{path}: has a key of more than {MAX_KEY_PARTS} parts, which no recipe has")
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{path}: is not TOML (nested too deep to be read)") from None
    except ValueError as error:  # of tomllib, of the encoding, of numbers with thousands of digits
        raise InputError(f"{path}: is not TOML ({error})") from None


def key_parts(line: str) -> int:
    """The most dots between two signs that end a key; blanks around dots and quotes around parts do not hide them."""
    bare = STRING.sub("q", line).replace(" ", "").replace("\t", "")
    return max(word.count(".") for word in re.split(r"[=\[\]{},#]", bare))
