"""Compares a committed folder with its MANIFEST before its files are used.

`files.fault_in_folder` serves the process that wrote a folder. This serves everybody who reads one later: the MANIFEST may come
from a stranger, and a file that it does not list is a fault too, because loaders choose what to do by which files exist.
"""

import stat
from pathlib import Path, PurePosixPath

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.files import MANIFEST, require_memory, sha256
from niwaki.core.head_folder import HEADS
from niwaki.core.json_types import Json
from niwaki.core.path_safety import file_inside

MAX_FILES = 10_000
DOCUMENTATION = (
    ".md",
    ".svg",
    ".png",
    ".pdf",
    ".html",
)  # no loader reads these, and cards are written after the commit
LEGAL = ("LICENSE", "NOTICE")


def listed_files(root: Path) -> dict[str, Json]:
    """Name → size and sha256 of every file that the folder was committed with."""
    manifest = file_inside(root, MANIFEST)
    value = strict_json.load(manifest, max_values=4 * MAX_FILES)
    found = value.get("files") if isinstance(value, dict) else None
    if not isinstance(found, dict) or not found or not all(_is_entry(*item) for item in found.items()):
        raise InputError(f"{manifest}: is damaged")
    return found


def _is_entry(name: str, entry: object) -> bool:
    path = PurePosixPath(name)
    plain = bool(name) and "\0" not in name and not path.is_absolute() and ".." not in path.parts
    return plain and isinstance(entry, dict) and {"bytes", "sha256"} <= entry.keys()


def fault_in_files(root: Path, below: str = "", hash_up_to: int | None = None, unlisted: bool = True) -> str | None:
    """Why the files of a committed folder, or of its subfolder `below`, cannot be trusted; None where all are as saved.

    Files larger than `hash_up_to` bytes are compared by size alone. With `unlisted`, files that the MANIFEST does not list are a fault.
    """
    try:
        listed = listed_files(root)
        for name, entry in listed.items():
            if PurePosixPath(name).is_relative_to(below) and (fault := _fault(root, name, entry, hash_up_to)):
                return fault
        return _unlisted(root / below, {str(root / name) for name in listed}) if unlisted else None
    except InputError as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or root}: cannot be read ({error.strerror or error})"


def _fault(root: Path, name: str, entry: Json, hash_up_to: int | None) -> str | None:
    path = root / name
    if not path.exists():
        return f"{path}: is missing"
    status = file_inside(path.parent, path.name).stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size != entry["bytes"]:
        return f"{path}: is not what was saved (damaged or changed since)"
    if hash_up_to is not None and status.st_size > hash_up_to:
        return None
    require_memory(status.st_size, f"{path}: it")  # a hostile MANIFEST may list a sparse file of any size
    return None if sha256(path) == entry["sha256"] else f"{path}: is not what was saved (damaged or changed since)"


def _unlisted(folder: Path, listed: set[str]) -> str | None:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if parts[0] == HEADS:
            continue  # each head has a MANIFEST of its own, which is checked when the head is used
        hidden = any(part.startswith(".") for part in parts)
        known = str(path) in listed or path.name == MANIFEST or path.suffix in DOCUMENTATION or path.name in LEGAL
        if not (hidden or known or path.is_dir()):
            return f"{path}: was added after the folder was saved ({MANIFEST} does not list it); remove it"
    return None
