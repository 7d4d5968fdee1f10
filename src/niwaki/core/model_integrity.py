"""Whether a model folder is still the one that was saved: checked whenever a model is loaded to be used.

A flipped bit in the weights loads like any other and predicts wrongly, so all files are hashed against the MANIFEST. It
lies in the folder itself (exports) or in the parent folder (stages of a run, models of a cascade). A folder without one
(a checkpoint of others, a stage's model that was copied elsewhere) cannot be checked; `warn_unverified` says so.
"""

import shlex
from pathlib import Path

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.files import MANIFEST
from niwaki.core.head_folder import is_head_folder, trunk_folder
from niwaki.core.log import info
from niwaki.core.manifest import fault_in_files, listed_files

MODEL, STAGES, PLAN, RESULT = "model", "stages", "plan.json", "result.json"
FIX_STAGE = "run the recipe again to have it made anew, or use a copy of the folder elsewhere if the change was meant"
FIX_EXPORT = f"export it again, or remove its {MANIFEST} if the change was meant"
FIX_HEAD = "add the head again with niwaki.add_head"
_warned: set[Path] = set()


def display_name(folder: Path) -> str:
    """What people call a model: its folder, or of a stage's the stage."""
    home = folder.resolve()
    return home.parent.name if home.name == MODEL else home.name


def check_unchanged(folder: Path) -> None:
    """Raises InputError if a file of the model differs from its MANIFEST, is missing or was added, or if a stage has none."""
    if is_head_folder(folder):
        check_unchanged(trunk_folder(folder))
        _reject(fault_in_files(folder), FIX_HEAD)
        return
    home = folder.resolve()
    if (folder / MANIFEST).exists():
        _reject(fault_in_files(folder), FIX_EXPORT)
    elif _verified_by_parent(home):
        whole = "" if is_stage_model(home) else home.name
        _reject(fault_in_files(home.parent, whole), FIX_STAGE)
    elif is_stage_model(home):
        _reject(f"{home.parent}: has no {MANIFEST}", FIX_STAGE)
    if in_run(home.parent) and is_stage_model(home):
        _reject(fault_in_place(home.parent), FIX_STAGE)


def warn_unverified(folder: Path) -> None:
    """One line, once for each folder, where nothing tells whether a model's files are as they were saved."""
    home = trunk_folder(folder).resolve()
    sealed = (home / MANIFEST).exists() or _verified_by_parent(home) or is_stage_model(home)
    if home.is_dir() and not sealed and home not in _warned:
        _warned.add(home)
        info(
            f"{folder}: has no {MANIFEST}, so damage to its files cannot be noticed; `niwaki export {shlex.quote(str(folder))}` writes a copy with one"
        )


def _verified_by_parent(home: Path) -> bool:
    if not (home.parent / MANIFEST).exists():
        return False
    if is_stage_model(home):
        return True
    try:
        return any(name.startswith(f"{home.name}/") for name in listed_files(home.parent))
    except InputError as error:  # it may seal this folder, and cannot tell
        raise InputError(f"{error}; {FIX_EXPORT}") from None


def is_stage_model(home: Path) -> bool:
    """Whether this is the model of a finished stage, and not of one that is just being written."""
    stage = home.parent
    return home.name == MODEL and ((stage / RESULT).exists() or in_run(stage)) and ".tmp-" not in stage.name


def in_run(stage: Path) -> bool:
    """Whether a stage folder lies in a run; one that was copied elsewhere may have any name."""
    return stage.parent.name == STAGES and (stage.parent.parent / PLAN).exists()


def fault_in_place(stage: Path) -> str | None:
    """A stage's folder is named after the stage and its key; one that says otherwise is another stage's, or a copy."""
    result = strict_json.load(stage / RESULT, constants=True)
    name, key = (result.get("stage"), result.get("key")) if isinstance(result, dict) else (None, None)
    named = isinstance(key, str) and stage.name == folder_name(name, key)
    return None if named else f"{stage}: holds another stage ('{name}', key {str(key)[:12]})"


def folder_name(stage: object, key: str) -> str:
    return f"{stage}-{key[:12]}"


def _reject(fault: str | None, fix: str) -> None:
    if fault is not None:
        raise InputError(fault if "; " in fault else f"{fault}; {fix}")
