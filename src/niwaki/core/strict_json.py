"""JSON from strangers: bounded in bytes and values, no key twice, no NaN, and read from a plain file only.

A file's size does not bound what it takes to hold: `[[],[],…` takes forty bytes for one. So values are counted, roughly
and from above, in the text itself, before any of them is made.
"""

import json
import stat
from pathlib import Path
from typing import Any

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json

MAX_BYTES = 64 << 20
MAX_VALUES = 1_000_000  # some 100 MB of Python objects


def load(path: Path, max_bytes: int = MAX_BYTES, max_values: int = MAX_VALUES, constants: bool = False) -> Any:
    """The file's value, or InputError in one line that names the file. `constants`: accept NaN and infinity."""
    return parse(read_bytes(path, max_bytes), str(path), max_values, constants)


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """The content of a plain file of at most `max_bytes`. Reading a pipe or a device might never end."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{path}: is not a plain file")
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)  # of a file in /proc the size is not known before
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if len(data) > max_bytes:
        raise InputError(f"{path}: is larger than {max_bytes / 1e6:.3g} MB, which no file of this kind is")
    return data


def parse(data: bytes, where: str, max_values: int = MAX_VALUES, constants: bool = False) -> Any:
    if data.count(b",") + data.count(b"[") + data.count(b"{") > max_values:
        raise InputError(f"{where}: holds more than {max_values} values, which no file of this kind does")
    constant = float if constants else _no_constant
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_without_repeats, parse_constant=constant)
    except RecursionError:
        raise InputError(f"{where}: is nested too deep to be read") from None
    except ValueError as error:
        raise InputError(f"{where}: cannot be read as JSON ({error})") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> Json:
    """Readers differ in which of two values they take, so that one would check what another one uses."""
    table = dict(pairs)
    if len(table) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"key {key[:60]!r} is there twice")
            seen.add(key)
    return table


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
