"""Which task a user's rows are for: a folder of a named task is known by its name, other rows by their columns."""

from pathlib import Path

from niwaki.data import files
from niwaki.data.columns import guess
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task


def recognise(source: str, named: dict[str, str]) -> str:
    """The name of a task in the catalogue; Refused where the columns can be read in several ways."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        for name in TASKS.names():
            home = TASKS.load(name, Task).home
            if home and home == folder.resolve().name:
                return name
    tables = files.read(source)
    return guess(next(iter(tables.values())), named).kind
