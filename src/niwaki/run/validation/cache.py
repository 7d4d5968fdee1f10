"""Can the teacher cache be written?"""

import os
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.run.validation.draft import Draft
from niwaki.train.teacher_cache import LOCK


def check(draft: Draft, problems: Problems) -> None:
    """Only a folder that the recipe names; the default one depends on the run folder and is checked when the run starts."""
    if draft.recipe.cache.folder:
        with problems.collecting():
            check_cache_folder(Path(draft.recipe.cache.folder).expanduser())


def check_cache_folder(folder: Path) -> None:
    """Rejects a folder that cannot be created or written to."""
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not existing.is_dir():
        raise InputError(f"cache.folder: {existing}: is a file, not a folder; name another")
    if (folder / LOCK).is_dir():
        raise InputError(
            f"cache.folder: {folder / LOCK}: is a folder, where a file must be; remove it, or name another"
        )
    if not os.access(existing, os.W_OK):
        raise InputError(f"cache.folder: {existing}: cannot be written to; name another")
