"""The folder that compress and distill write, and the run folder next to it."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError, UsageError
from niwaki.core.files import require_writable, write_json

if TYPE_CHECKING:
    from niwaki.compression.judge import Found
    from niwaki.compression.result import Compressed

SUMMARY = "compression.json"  # in the folder of a compressed model


def free_target(out: str | Path, summary: str = SUMMARY) -> Path:
    """The folder to write. Only one that the same function wrote is replaced: it has the file `summary`."""
    if not isinstance(out, str | Path) or not str(out).strip():
        raise UsageError(f"out: must be the path of a folder (given: {out!r})")
    target = Path(out).expanduser()
    if target.exists() and not (target / summary).is_file() and (target.is_file() or any(target.iterdir())):
        raise InputError(f"{target}: exists already; remove it, or choose another folder with out")
    require_writable(target.parent)
    return target


@contextlib.contextmanager
def run_folder(target: Path, verb: str) -> Iterator[Path]:
    """`runs/<verb>-<name>` next to the target. If it is new and the input is rejected, nothing of it stays."""
    folder = target.parent / "runs" / f"{verb}-{target.name}"
    new = [place for place in (folder, folder.parent) if not place.exists()]
    try:
        yield folder
    except (InputError, UsageError):
        for place in new:
            if place == folder or (place.is_dir() and not any(place.iterdir())):
                shutil.rmtree(place, ignore_errors=True)
        raise


def published(found: "Found", metric: str, target: Path) -> "Compressed":
    """Copies the chosen model to the target in one step."""
    from niwaki.compression.result import Compressed, copied_model

    result = Compressed(target, found.run_folder, metric, found.chosen, found.candidates)
    with copied_model(found.model, target) as folder:
        write_json(folder / SUMMARY, {"version": 1, **result.to_json(), "seconds": round(found.seconds, 1)})
    return result
