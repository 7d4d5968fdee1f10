"""Whether the model of a finished stage is still the one that was saved: asked whenever one is loaded to be used.

A stage is committed with a MANIFEST beside its folder `model`, an export with one of its own. A bit turned over in the
weights loads like any other and answers wrongly, so what is listed is compared before it is used. A folder without a
MANIFEST (a checkpoint of others, a copy of a stage's model that was taken elsewhere) is taken as it is.
"""

from pathlib import Path
from typing import Any

from niwaki.core import strict_json
from niwaki.core.errors import Refused
from niwaki.core.files import MANIFEST, require_memory, sha256

MODEL = "model"  # the folder of a stage that holds it
MENDING = "run the recipe again to have it made anew, or use a copy of the folder elsewhere if the change was meant"
MENDING_EXPORT = f"export it again, or remove its {MANIFEST} if the change was meant"


def known_as(folder: Path) -> str:
    """What people call a model: its folder, or of a stage's the stage."""
    home = folder.resolve()
    return home.parent.name if home.name == MODEL else home.name


def refuse_changed(folder: Path) -> None:
    """Refused where a file of the model is not as its stage's MANIFEST says, or its own, or is gone."""
    home = folder.resolve()
    if home.name == MODEL:
        _compare(folder, home.parent / MANIFEST, f"{MODEL}/", MENDING)
    _compare(folder, folder / MANIFEST, "", MENDING_EXPORT)


def _compare(folder: Path, manifest: Path, prefix: str, mending: str) -> None:
    if not manifest.is_file():
        return
    for name, said in _listed(manifest, prefix, mending):
        path = folder / name
        if not path.is_file():
            raise Refused(f"{path}: is missing; {mending}")
        size = path.stat().st_size
        require_memory(size, f"{path}: it")  # before a file of any size is read through
        if size != said.get("bytes") or sha256(path) != said.get("sha256"):
            raise Refused(f"{path}: is not what was saved (damaged or changed since); {mending}")


def _listed(manifest: Path, prefix: str, mending: str) -> list[tuple[str, dict[str, Any]]]:
    """The files that lie in the model's folder; names that lead elsewhere are not looked at."""
    value = strict_json.read(manifest, most_values=10_000)
    entries = value.get("files") if isinstance(value, dict) else None
    if not isinstance(entries, dict):
        raise Refused(f"{manifest}: is damaged; {mending}")
    names = {name.removeprefix(prefix): said for name, said in entries.items() if name.startswith(prefix)}
    return [(name, said) for name, said in names.items() if "/" not in name and isinstance(said, dict)]
