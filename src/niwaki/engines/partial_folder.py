"""The private folder of an unfinished file of answers: `.out.jsonl.partial-<random>`, next to the output.

A predictable name could be a link to somebody's file. So the folder has a random name and is created by mkdir, which never follows
a link; files in it are opened relative to the open folder, and never through links. Windows has no open folders, so there files are
opened by their paths. To resume, a later process looks for folders with
the output's name that belong to its own user.
"""

import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from niwaki.core import strict_json, system
from niwaki.core.errors import InputError

ANSWERS, STATE = "answers.jsonl", "state.json"
STATE_BYTES = 1 << 20
EMPTY_SECONDS = 60  # an older empty folder is a leftover; a younger one may belong to a process that just starts


class PartialFolder:
    """One such folder, open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = os.open(path, system.FOLDER) if system.HAS_OPEN_FOLDERS else None
        self._is_delivered = False
        if self._info().st_uid != system.user_id():
            self.close()
            raise PermissionError(errno.EPERM, "belongs to another user", str(path))

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
        elif self._is_delivered:  # only now is the file of answers closed, so that Windows removes it
            self.remove()

    def _at(self, name: str) -> str:
        """A file's name for calls with `dir_fd`."""
        return name if self._handle is not None else str(self.path / name)

    def _info(self) -> os.stat_result:
        return os.fstat(self._handle) if self._handle is not None else self.path.lstat()

    @property
    def answers(self) -> Path:
        return self.path / ANSWERS

    def _open(self, name: str, how: int) -> int:
        try:
            return os.open(self._at(name), how | system.PRIVATE, 0o666, dir_fd=self._handle)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise InputError(f"{self.path / name}: is a symbolic link; remove {self.path}") from None

    def open_answers(self, new: bool) -> int:
        how = os.O_CREAT | os.O_EXCL if new else 0
        handle = self._open(ANSWERS, os.O_RDWR | how)
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_uid != system.user_id():
            os.close(handle)
            raise InputError(f"{self.answers}: is not a plain file; remove {self.path}")
        return handle

    def holds(self, handle: int) -> bool:
        """Whether the open file is still the one in the folder: another process may have finished it."""
        with contextlib.suppress(FileNotFoundError):
            entry = os.stat(self._at(ANSWERS), dir_fd=self._handle, follow_symlinks=False)
            return os.path.samestat(os.fstat(handle), entry)
        return False

    def read_state(self) -> object:
        """The content of the state file; None if there is none."""
        try:
            handle = self._open(STATE, os.O_RDONLY)
        except FileNotFoundError:
            return None
        with os.fdopen(handle, "rb") as file:
            return strict_json.parse(file.read(STATE_BYTES), str(self.path / STATE))

    def write_state(self, text: str) -> None:
        name = f"{STATE}-{uuid.uuid4().hex}"
        handle = self._open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(self._at(name), self._at(STATE), src_dir_fd=self._handle, dst_dir_fd=self._handle)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(self._at(name), dir_fd=self._handle)
            raise
        if self._handle is not None:
            os.fsync(self._handle)

    def _names(self) -> list[str]:
        with os.scandir(self.path if self._handle is None else self._handle) as entries:
            return [entry.name for entry in entries]

    def is_leftover(self) -> bool:
        """Whether no process can resume from it: it was finished but not removed, or killed before its first file."""
        names = self._names()
        if ANSWERS in names:
            return False
        return bool(names) or time.time() - self._info().st_mtime > EMPTY_SECONDS

    def deliver(self, out: Path) -> None:
        """Moves the answers to their name and removes the folder."""
        if self._handle is None:  # Windows does not move an open file
            copy = self.path / f"copy-{uuid.uuid4().hex}"
            shutil.copyfile(self.answers, copy)
            copy.replace(out)
            self._is_delivered = True
            return
        os.replace(ANSWERS, out, src_dir_fd=self._handle)
        self.remove()

    def remove(self) -> None:
        for name in self._names():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._at(name), dir_fd=self._handle)
        with contextlib.suppress(OSError):
            self.path.rmdir()


@contextlib.contextmanager
def open_folder(path: Path) -> Iterator[PartialFolder]:
    folder = PartialFolder(path)
    try:
        yield folder
    finally:
        folder.close()


def folders_of(out: Path) -> list[Path]:
    """The folders of this user's earlier processes for that file, the newest first; no links."""
    with contextlib.suppress(OSError), os.scandir(out.parent) as entries:
        name = re.compile(re.escape(_start(out)) + r"\w{8}")  # as tempfile ends names
        found = [(entry.stat(follow_symlinks=False), entry.path) for entry in entries if name.fullmatch(entry.name)]
        own = [
            (info.st_mtime, path)
            for info, path in found
            if stat.S_ISDIR(info.st_mode) and info.st_uid == system.user_id()
        ]
        return [Path(path) for _, path in sorted(own, reverse=True)]
    return []


def _start(out: Path) -> str:
    return f".{out.name}.partial-"


def remove_leftovers(out: Path) -> None:
    """Removes folders that no process can resume from."""
    for path in folders_of(out):
        with contextlib.suppress(OSError), open_folder(path) as folder:
            if folder.is_leftover():
                folder.remove()


@contextlib.contextmanager
def locked_folder(out: Path) -> Iterator[tuple[PartialFolder, int]]:
    """The folder for `out` and its file of answers, locked: an earlier process's, or a new one."""
    remove_leftovers(out)
    with contextlib.ExitStack() as stack:
        found = [entry for path in folders_of(out) if (entry := _locked(stack, path, new=False))]
        for folder, _ in found[1:]:  # older ones: the newest continued their work
            folder.remove()
        if found:
            yield found[0]
            return
        created = _locked(stack, Path(tempfile.mkdtemp(prefix=_start(out), dir=out.parent)), new=True)
        assert created is not None
        if len(folders_of(out)) > 1:  # another process started at the same time
            created[0].remove()
            raise InputError(f"{out}: is being written by another process; wait for it or give another name")
        yield created


def _locked(stack: contextlib.ExitStack, path: Path, new: bool) -> tuple[PartialFolder, int] | None:
    """The folder and its file; None if the file no longer exists."""
    try:
        folder = stack.enter_context(open_folder(path))
        handle = folder.open_answers(new)
    except FileNotFoundError:
        return None
    stack.callback(os.close, handle)
    try:
        system.lock(handle, wait=False)
    except BlockingIOError:
        raise InputError(f"{path}: is being written by another process; wait for it or give another name") from None
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL):  # a file system without locks
            raise
    return (folder, handle) if folder.holds(handle) else None
