"""A file of answers while it is written, in a private folder (`partial_folder.py`), with a state that says how much of it is valid.

A killed process may leave an incomplete last line. The process that resumes truncates the file to the length in the state, which is
written only after those lines are on disk. At the end the file is moved to its name.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from niwaki.core.errors import InputError, NiwakiError
from niwaki.core.settings import Settings, check, setting
from niwaki.core.signals import saving
from niwaki.core.system import flush
from niwaki.engines.partial_folder import PartialFolder, folders_of, locked_folder, open_folder, remove_leftovers

SAVE_SECONDS = 1.0  # at most this much work is repeated after a kill
MAX_BYTES = 1 << 62  # no limit on the size of files
RESTART = "; --force starts again"


class OutputState(Settings):
    """How much of the file is valid, and what it was computed with."""

    settings: dict[str, str] = setting(..., "what the answers depend on; must be equal to resume")
    inputs: int = setting(0, "answered inputs", ge=0, le=MAX_BYTES)
    bad: int = setting(0, "skipped bad lines among them", ge=0, le=MAX_BYTES)
    bytes: int = setting(0, "valid bytes of the file", ge=0, le=MAX_BYTES)
    read: str = setting("", "sha256 of the input lines that were read")
    forced: bool = setting(False, "whether --force allows to overwrite the output")


class PartialOutput:
    """The growing file. `save` flushes it with its state; `finish` moves it to its name."""

    def __init__(self, out: Path, folder: PartialFolder, file: Any, state: OutputState) -> None:
        self.out, self.folder, self.state = out, folder, state
        self._file = file
        self._saved_at = time.monotonic()

    def add(self, lines: bytes, inputs: int, bad: int, read: str) -> None:
        """Adds the lines of some inputs; `read` is the hash of all input lines so far."""
        with self._write_errors():
            self._file.write(lines)
        before = self.state
        self.state = OutputState(
            settings=before.settings,
            inputs=before.inputs + inputs,
            bad=before.bad + bad,
            bytes=before.bytes + len(lines),
            read=read,
            forced=before.forced,
        )
        if time.monotonic() - self._saved_at >= SAVE_SECONDS:
            self.save()

    def add_incomplete(self, lines: bytes) -> None:
        """Adds lines of an incomplete batch, for readers only: a process that resumes computes the whole batch again."""
        with self._write_errors():
            self._file.write(lines)

    def save(self) -> None:
        with saving(), self._write_errors():
            os.fsync(self._file.fileno())
            self.folder.write_state(json.dumps(self.state.model_dump()) + "\n")
        self._saved_at = time.monotonic()

    def finish(self) -> None:
        with self._write_errors():
            os.fsync(self._file.fileno())
            self.folder.deliver(self.out)
            flush(self.out.parent)

    @property
    def goes_on(self) -> str:
        """How to resume; with --force the command would start again."""
        command = "the same command without --force" if self.state.forced else "the same command"
        return f"finished answers are saved, {command} resumes there"

    @contextlib.contextmanager
    def _write_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise NiwakiError(
                f"{self.folder.answers}: could not be written ({error.strerror or error}); {self.goes_on}"
            ) from None


@contextlib.contextmanager
def open_output(out: Path, settings: dict[str, str], force: bool = False, bad: bool = True) -> Iterator[PartialOutput]:
    """The growing file of `out`, new or resumed. `bad`: whether it may contain skipped bad lines."""
    check_output_path(out, force)
    with locked_folder(out) as (folder, handle), open(handle, "r+b", buffering=0, closefd=False) as file:
        state = OutputState(settings=settings, forced=force or _was_forced(folder, settings))
        if not force:
            state = _resumable_state(folder, os.fstat(handle).st_size, settings, bad) or state
        _check_free(out, state.forced)
        file.truncate(state.bytes)
        file.seek(state.bytes)
        part = PartialOutput(out, folder, _RetryingFile(file), state)
        part.save()
        try:
            yield part
        except BaseException as error:
            _close(part, handle)
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(f"interrupted; {part.goes_on}") from None
            raise


def _close(part: PartialOutput, handle: int) -> None:
    """Saves the state, or removes the folder if nothing was written."""
    if not os.fstat(handle).st_size and not part.state.forced:
        part.folder.remove()
        return
    with contextlib.suppress(NiwakiError):  # a full disk was reported already
        part.save()


class _RetryingFile:
    """Writes all bytes or raises: a disk that fills up writes only some."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.fileno = file.fileno

    def write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self.file.write(left) :]


def check_output_path(out: Path, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Rejects an output that cannot be written, or would overwrite a file, before any work."""
    if out.exists() and not out.is_file():
        raise InputError(f"{out}: is not a plain file")
    if not out.parent.is_dir():
        raise InputError(f"{out}: its folder does not exist; create it first")
    remove_leftovers(out)
    written = [out.resolve(), *(path.resolve() for path in folders_of(out))]
    if any(path.exists() and {path.resolve(), path.resolve().parent} & set(written) for path in inputs):
        raise InputError(f"{out}: is the input; give another name")
    _check_free(out, force or any(_forced_in(path) for path in folders_of(out)))


def _check_free(out: Path, forced: bool) -> None:
    if os.path.lexists(out) and not forced:
        raise InputError(f"{out}: exists already; use --force to overwrite it, or give another name")


def _forced_in(path: Path) -> bool:
    try:
        with open_folder(path) as folder:
            return _was_forced(folder)
    except OSError:
        return False  # its process has finished and removed it


def _was_forced(folder: PartialFolder, settings: dict[str, str] | None = None) -> bool:
    """Whether the file was started with --force: a process that resumes it may then overwrite `out`."""
    values = folder.read_state()
    return isinstance(values, dict) and values.get("forced") is True and settings in (None, values.get("settings"))


def _resumable_state(folder: PartialFolder, size: int, settings: dict[str, str], bad: bool) -> OutputState | None:
    """The state of an earlier process, or None. Rejects one that was started with other settings."""
    values = folder.read_state()
    if values is None or not size:
        return None
    if not isinstance(values, dict):
        raise InputError(f"{folder.path}: its state is damaged{RESTART}")
    state = check(OutputState, values, str(folder.path))
    other = [name for name in {**settings, **state.settings} if settings.get(name) != state.settings.get(name)]
    if other:
        raise InputError(f"{folder.path}: was started with another {' and another '.join(other)}{RESTART}")
    if size < state.bytes:
        raise InputError(f"{folder.answers}: is shorter than it was{RESTART}")
    if state.bad and not bad:
        raise InputError(f"{folder.path}: {state.bad} bad lines were skipped in it; give --skip-bad again{RESTART}")
    return state if state.inputs else None
