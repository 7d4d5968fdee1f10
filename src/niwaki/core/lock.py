"""One run at a time in a folder. The system releases the lock when its process ends, so a stale lock blocks nobody.

The file contains the id of the process that holds the lock, for messages only: the id that a killed run left behind is not
trusted, because another process may have it now.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from niwaki.core import system
from niwaki.core.errors import InputError

LONGEST = 20  # characters of a process number


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Raises InputError with the other's process id while another process holds the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with _opened(folder / ".lock") as file:
        try:
            system.lock(file, wait=False)
        except BlockingIOError:
            raise InputError(
                f"{folder}: is in use by process {_holder(folder)}; wait for it or choose another folder"
            ) from None
        except OSError as error:
            raise InputError(
                f"{folder}: cannot be locked ({error.strerror}), so two runs in it would not see each other; "
                "choose a folder on another disk"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        yield


def _opened(path: Path) -> IO[bytes]:
    """Its text is replaced, so it must be a file of its own: a link would lead to somebody's file."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | system.PRIVATE, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise InputError(f"{path}: is not a plain file; remove it") from None
        raise
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(handle)
        raise InputError(f"{path}: is not a plain file of its own; remove it")
    return os.fdopen(handle, "r+b", buffering=0)


def _holder(folder: Path) -> str:
    content = (folder / ".lock").read_bytes()[:LONGEST].strip()
    return content.decode() if content.isdigit() else "unknown"
