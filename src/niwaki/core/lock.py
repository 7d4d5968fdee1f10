"""One run at a time in a folder. The lock dies with its process, so none is ever stale."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from niwaki.core.errors import Refused


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Refused, with the other's process id, while another process holds the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise Refused(
                f"{folder}: is in use by process {file.read().strip() or 'unknown'}; wait for it or choose another folder"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
