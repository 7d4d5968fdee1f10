"""Which task a user's rows are for: a folder of a named task is known by its name, other rows by their columns."""

from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.data import dataset_files, image_rows
from niwaki.data.columns import guess_columns
from niwaki.data.raganato import is_raganato
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task

IMAGES = "image_classification"


def recognise(source: str, named: dict[str, str]) -> str:
    """The name of a task in the catalogue. Rejects rows that can be read in several ways."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        folders = {TASKS.load(name, Task).published.folder: name for name in TASKS.names()}
        folders.pop("", None)
        if folder.resolve().name in folders:
            return folders[folder.resolve().name]
        inside = sorted(folders[path.name] for path in folder.iterdir() if path.name in folders)
        if inside:
            raise InputError(
                f"{folder}: holds rows of several tasks ({', '.join(inside)}); say which: --set task={inside[0]}"
            )
    if is_raganato(folder):
        return "senses"
    if image_rows.is_image_source(source):
        return IMAGES
    table = next(iter(dataset_files.read_splits(source).values()))
    return IMAGES if image_rows.is_image_table(table) else guess_columns(table, named).kind
