"""Commands and settings that messages suggest, spelled so that a user can paste them into a shell."""

import shlex
import tomllib

COLUMN = "COLUMN"  # stands for a name that only the user knows


def set_option(key: str, value: str) -> str:
    """`--set key=value` as one shell word after the option. `--set` reads a value as TOML first, so a text that TOML would read as
    something else (a column called `2020`) is written as a TOML string."""
    return f"--set {shlex.quote(f'{key}={_as_toml(value)}')}"


def data_option(path: str) -> str:
    """`--data path`."""
    return f"--data {shlex.quote(path)}"


def _as_toml(value: str) -> str:
    try:
        tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return value  # not TOML: `--set` takes it as plain text
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
