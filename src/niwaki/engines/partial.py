"""A file of answers while it is being written: `out.jsonl.part`, and beside it, in `out.jsonl.part.json`, how far it is good.

What is good is never written over. A process that is killed leaves a part whose end may be torn; whoever goes on cuts it back to
what the state says, which is written after the lines it speaks of have reached the disk. At the end the part gets its name.
"""

import contextlib
import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from niwaki.core import strict_json
from niwaki.core.errors import NiwakiError, Refused
from niwaki.core.files import fsync, write_text
from niwaki.core.settings import Settings, check, setting

SAVE_SECONDS = 1.0  # at most so much work is done again after a kill
NEW = "; --force begins anew"


class State(Settings):
    """How far a part is good, and of what."""

    made_by: dict[str, str] = setting(..., "what decides the answers: each must be the same to go on")
    inputs: int = setting(0, "that are answered", ge=0)
    bad: int = setting(0, "of them that were passed over", ge=0)
    bytes: int = setting(0, "of the part that are good", ge=0)
    read: str = setting("", "sha256 of the lines that these inputs were read from")
    forced: bool = setting(False, "whether a file of the part's later name may be written over")


class Part:
    """Lines are added to it and kept; `keep` makes sure of them, `finish` gives them their name."""

    def __init__(self, out: Path, file: Any, state: State) -> None:
        self.out, self.state = out, state
        self._file = file
        self._kept = time.monotonic()

    def add(self, lines: bytes, inputs: int, bad: int, read: str) -> None:
        """Lines of so many more inputs; `read` is the hash of all that was read up to here."""
        with self._naming():
            self._file.write(lines)
        before = self.state
        self.state = State(
            made_by=before.made_by, inputs=before.inputs + inputs, bad=before.bad + bad,
            bytes=before.bytes + len(lines), read=read, forced=before.forced,
        )  # fmt: skip
        if time.monotonic() - self._kept >= SAVE_SECONDS:
            self.keep()

    def leave(self, lines: bytes) -> None:
        """Lines for whoever reads the part as it is; who goes on makes them again, since more may belong to their batch."""
        with self._naming():
            self._file.write(lines)

    def keep(self) -> None:
        with self._naming():
            os.fsync(self._file.fileno())
            write_text(state_of(self.out), json.dumps(self.state.model_dump()) + "\n")
        self._kept = time.monotonic()

    def finish(self) -> None:
        with self._naming():
            os.fsync(self._file.fileno())
            part_of(self.out).replace(self.out)
            fsync(self.out.parent)
            state_of(self.out).unlink(missing_ok=True)

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
                f"{part_of(self.out)}: could not be written ({error.strerror or error}); {self.goes_on}"
            ) from None


def part_of(out: Path) -> Path:
    return out.with_name(f"{out.name}.part")


def state_of(out: Path) -> Path:
    return out.with_name(f"{out.name}.part.json")


@contextlib.contextmanager
def writing(out: Path, made_by: dict[str, str], force: bool = False, bad: bool = True) -> Iterator[Part]:
    """The part of `out`, new or where it was left. `bad`: whether inputs that were passed over may be among its lines."""
    refuse_out(out, force)
    part = part_of(out)
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0) as file:
        _lock(file, part)
        state = State(made_by=made_by, forced=force or _was_forced(out, made_by))
        if not force:
            state = _left(out, os.fstat(file.fileno()).st_size, made_by, bad) or state
        _refuse_there(out, state.forced)
        file.truncate(state.bytes)
        file.seek(state.bytes)
        opened = Part(out, _Whole(file), state)
        opened.keep()
        try:
            yield opened
        except BaseException as error:
            with contextlib.suppress(NiwakiError):  # a disk that is full is told already
                opened.keep()
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(f"interrupted; {opened.goes_on}") from None
            raise


class _Whole:
    """Writes all or raises: a disk that fills up takes a part first."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.fileno = file.fileno

    def write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self.file.write(left) :]


def refuse_out(out: Path, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Before work: where a file cannot come to be, or one would be lost."""
    if out.exists() and not out.is_file():
        raise Refused(f"{out}: is not a plain file")
    if not out.parent.is_dir():
        raise Refused(f"{out}: its folder is not there; make it first")
    written = [path.resolve() for path in (out, part_of(out), state_of(out))]
    if any(path.exists() and path.resolve() in written for path in inputs):
        raise Refused(f"{out}: is what is read; give another name")
    _refuse_there(out, force or _was_forced(out))


def _refuse_there(out: Path, forced: bool) -> None:
    if out.exists() and not forced:
        raise Refused(f"{out}: is there already; --force writes it anew, or give another name")


def _was_forced(out: Path, made_by: dict[str, str] | None = None) -> bool:
    """Whether a part lies there that --force began: whoever goes on with it has its leave to write over `out`."""
    if not out.exists() or not part_of(out).exists() or not state_of(out).exists():
        return False
    said = strict_json.read(state_of(out), 1 << 20)
    return isinstance(said, dict) and said.get("forced") is True and made_by in (None, said.get("made_by"))


def _lock(file: Any, part: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refused(f"{part}: is being written by another process; wait for it or give another name") from None
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL):  # a file system without locks
            raise


def _left(out: Path, size: int, made_by: dict[str, str], bad: bool) -> State | None:
    """Where an earlier process left off; None where it left nothing; Refused where it was at something else."""
    path = state_of(out)
    if not path.exists() or not size:
        return None
    said = strict_json.read(path, 1 << 20)
    if not isinstance(said, dict):
        raise Refused(f"{path}: is damaged{NEW}")
    state = check(State, said, str(path))
    other = [name for name in {**made_by, **state.made_by} if made_by.get(name) != state.made_by.get(name)]
    if other:
        raise Refused(f"{part_of(out)}: was begun with another {' and another '.join(other)}{NEW}")
    if size < state.bytes:
        raise Refused(f"{part_of(out)}: is shorter than it was{NEW}")
    if state.bad and not bad:
        raise Refused(f"{part_of(out)}: {state.bad} bad lines were passed over in it; give --skip-bad as before{NEW}")
    return state if state.inputs else None
