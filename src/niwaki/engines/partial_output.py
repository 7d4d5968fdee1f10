"""A file of answers while it is being written, in a private folder (`partial_folder.py`), with a state that says how far it is good.

What is good is never written over. A process that is killed leaves answers whose end may be torn; whoever goes on cuts them back to
what the state says, which is written after the lines it speaks of have reached the disk. At the end the answers get their name.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from niwaki.core.errors import InputError, NiwakiError
from niwaki.core.files import fsync
from niwaki.core.settings import Settings, check, setting
from niwaki.core.signals import saving
from niwaki.engines.partial_folder import PartialFolder, folders_of, locked_folder, open_folder, remove_leftovers

SAVE_SECONDS = 1.0  # at most so much work is done again after a kill
MOST = 1 << 62  # files may have any size
NEW = "; --force begins anew"


class OutputState(Settings):
    """How far a part is good, and of what."""

    made_by: dict[str, str] = setting(..., "what decides the answers: each must be the same to go on")
    inputs: int = setting(0, "that are answered", ge=0, le=MOST)
    bad: int = setting(0, "of them that were passed over", ge=0, le=MOST)
    bytes: int = setting(0, "of the part that are good", ge=0, le=MOST)
    read: str = setting("", "sha256 of the lines that these inputs were read from")
    forced: bool = setting(False, "whether a file of the part's later name may be written over")


class PartialOutput:
    """Lines are added to it and kept; `keep` makes sure of them, `finish` gives them their name."""

    def __init__(self, out: Path, folder: PartialFolder, file: Any, state: OutputState) -> None:
        self.out, self.folder, self.state = out, folder, state
        self._file = file
        self._kept = time.monotonic()

    def add(self, lines: bytes, inputs: int, bad: int, read: str) -> None:
        """Lines of so many more inputs; `read` is the hash of all that was read up to here."""
        with self._naming():
            self._file.write(lines)
        before = self.state
        self.state = OutputState(
            made_by=before.made_by,
            inputs=before.inputs + inputs,
            bad=before.bad + bad,
            bytes=before.bytes + len(lines),
            read=read,
            forced=before.forced,
        )
        if time.monotonic() - self._kept >= SAVE_SECONDS:
            self.keep()

    def leave(self, lines: bytes) -> None:
        """Lines for whoever reads the part as it is; who goes on makes them again, since more may belong to their batch."""
        with self._naming():
            self._file.write(lines)

    def keep(self) -> None:
        with saving(), self._naming():
            os.fsync(self._file.fileno())
            self.folder.write_state(json.dumps(self.state.model_dump()) + "\n")
        self._kept = time.monotonic()

    def finish(self) -> None:
        with self._naming():
            os.fsync(self._file.fileno())
            self.folder.deliver(self.out)
            fsync(self.out.parent)

    @property
    def goes_on(self) -> str:
        """With --force again it would begin anew."""
        command = "the same command without --force" if self.state.forced else "the same command"
        return f"what was finished is kept, {command} goes on from there"

    @contextlib.contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise NiwakiError(
                f"{self.folder.answers}: could not be written ({error.strerror or error}); {self.goes_on}"
            ) from None


@contextlib.contextmanager
def open_output(out: Path, made_by: dict[str, str], force: bool = False, bad: bool = True) -> Iterator[PartialOutput]:
    """The part of `out`, new or where it was left. `bad`: whether inputs that were passed over may be among its lines."""
    check_output_path(out, force)
    with locked_folder(out) as (folder, handle), open(handle, "r+b", buffering=0, closefd=False) as file:
        state = OutputState(made_by=made_by, forced=force or _was_forced(folder, made_by))
        if not force:
            state = _left(folder, os.fstat(handle).st_size, made_by, bad) or state
        _refuse_there(out, state.forced)
        file.truncate(state.bytes)
        file.seek(state.bytes)
        part = PartialOutput(out, folder, _Whole(file), state)
        part.keep()
        try:
            yield part
        except BaseException as error:
            _close(part, handle)
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(f"interrupted; {part.goes_on}") from None
            raise


def _close(part: PartialOutput, handle: int) -> None:
    """Keeps what there is to go on from, and leaves nothing behind where there is nothing."""
    if not os.fstat(handle).st_size and not part.state.forced:
        part.folder.remove()
        return
    with contextlib.suppress(NiwakiError):  # a disk that is full is told already
        part.keep()


class _Whole:
    """Writes all or raises: a disk that fills up takes a part first."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.fileno = file.fileno

    def write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self.file.write(left) :]


def check_output_path(out: Path, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Before work: where a file cannot come to be, or one would be lost."""
    if out.exists() and not out.is_file():
        raise InputError(f"{out}: is not a plain file")
    if not out.parent.is_dir():
        raise InputError(f"{out}: its folder is not there; make it first")
    remove_leftovers(out)
    written = [out.resolve(), *(path.resolve() for path in folders_of(out))]
    if any(path.exists() and {path.resolve(), path.resolve().parent} & set(written) for path in inputs):
        raise InputError(f"{out}: is what is read; give another name")
    _refuse_there(out, force or any(_forced_in(path) for path in folders_of(out)))


def _refuse_there(out: Path, forced: bool) -> None:
    if os.path.lexists(out) and not forced:
        raise InputError(f"{out}: is there already; --force writes it anew, or give another name")


def _forced_in(path: Path) -> bool:
    try:
        with open_folder(path) as folder:
            return _was_forced(folder)
    except OSError:
        return False  # finished and removed by its process meanwhile


def _was_forced(folder: PartialFolder, made_by: dict[str, str] | None = None) -> bool:
    """Whether --force began what lies there: whoever goes on with it has its leave to write over `out`."""
    said = folder.read_state()
    return isinstance(said, dict) and said.get("forced") is True and made_by in (None, said.get("made_by"))


def _left(folder: PartialFolder, size: int, made_by: dict[str, str], bad: bool) -> OutputState | None:
    """Where an earlier process left off; None where it left nothing; Refused where it was at something else."""
    said = folder.read_state()
    if said is None or not size:
        return None
    if not isinstance(said, dict):
        raise InputError(f"{folder.path}: its state is damaged{NEW}")
    state = check(OutputState, said, str(folder.path))
    other = [name for name in {**made_by, **state.made_by} if made_by.get(name) != state.made_by.get(name)]
    if other:
        raise InputError(f"{folder.path}: was begun with another {' and another '.join(other)}{NEW}")
    if size < state.bytes:
        raise InputError(f"{folder.answers}: is shorter than it was{NEW}")
    if state.bad and not bad:
        raise InputError(f"{folder.path}: {state.bad} bad lines were passed over in it; give --skip-bad as before{NEW}")
    return state if state.inputs else None
