"""The API keys of a server: from a file, a key a line, or from the environment."""

import os
from pathlib import Path

from niwaki.core.errors import InputError, first_line

VARIABLE = "NIWAKI_API_KEYS"
SHORTEST = 16


def read_keys(path: Path | None) -> list[str]:
    """All keys. None means that everybody may ask. Rejects keys that are short or that no header can carry."""
    where, found = VARIABLE, os.environ.get(VARIABLE, "").split(",")
    if path is not None:
        where = str(path)
        try:
            found = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read ({first_line(error)})") from None
    keys = [key.strip() for key in found if key.strip() and not key.strip().startswith("#")]
    if path is not None and not keys:
        raise InputError(f"{path}: has no key; write one a line")
    for number, key in enumerate(keys):
        if len(key) < SHORTEST or not key.isascii() or not key.isprintable() or " " in key:
            raise InputError(
                f"{where}: key {number + 1} must have at least {SHORTEST} characters, ASCII and without blanks; e.g. the output of `openssl rand -hex 24`"
            )
    return keys
