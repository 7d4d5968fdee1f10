"""The user's rows as files: a path stays as it is, rows in memory are written once.

`check` needs them only for a moment. A run keeps them below its folder, named by their content, so that its recipe can be run again.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError
from niwaki.core.files import MANIFEST, commit_folder, require_writable, sha256
from niwaki.core.run_folder import is_run

if TYPE_CHECKING:
    from niwaki.run.recipe_settings import Recipe

ROWS = "rows"  # folder below that of a run


def in_memory(data: object) -> bool:
    return not isinstance(data, str | Path)


@contextlib.contextmanager
def rows_on_disk(data: object, y: object = None) -> Iterator[str]:
    """The path of the rows; those in memory are in a temporary folder, which messages call `data`."""
    if not in_memory(data):
        if y is not None:
            raise InputError("y: labels of a file belong into one of its columns; leave y out, or pass texts as data")
        yield str(data)
        return
    from niwaki.data.object_columns import DATA
    from niwaki.data.object_store import write_splits
    from niwaki.data.objects import to_splits

    splits = to_splits(data, y)
    with tempfile.TemporaryDirectory(prefix="niwaki-data-") as scratch:
        path = write_splits(splits, Path(scratch) / DATA)
        with called_data(path):
            yield str(path)


@contextlib.contextmanager
def called_data(path: Path) -> Iterator[None]:
    """Messages about rows that were given as an object do not name the file that niwaki wrote."""
    from niwaki.data.object_columns import DATA

    try:
        yield
    except InputError as error:
        raise InputError([fault.replace(str(path), DATA) for fault in error.faults]) from None


@contextlib.contextmanager
def with_own_rows(recipe: "Recipe", path: Path, folder: Path) -> "Iterator[Recipe]":
    """The recipe with a copy of its temporary rows below the folder of the run. If the recipe is rejected, what is new is removed."""
    require_writable(folder)
    home = path if path.is_dir() else path.parent
    copy = folder / ROWS / sha256(home / MANIFEST)[:12]
    new = next((place for place in (folder, copy.parent, copy) if not place.exists()), None)
    if not copy.exists():
        with commit_folder(copy) as inside:
            shutil.copytree(home, inside, dirs_exist_ok=True, ignore=shutil.ignore_patterns(MANIFEST))
    where = copy if path.is_dir() else copy / path.name
    try:
        with called_data(where):
            yield recipe.model_copy(update={"data": {**recipe.data, "path": str(where)}})
    except InputError:
        if new and not is_run(new):
            shutil.rmtree(new, ignore_errors=True)
        raise
