"""Files that are either whole or not there: atomic writes, committed folders with a MANIFEST, append-only lines.

Commit protocol of a folder: fill a temporary sibling, fsync every file, write MANIFEST (sha256 and size of each file)
last, fsync the folder, rename it into place, fsync the parent. A folder without a true MANIFEST does not count.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import uuid
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from niwaki.core.errors import InputError, NiwakiError
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.core.memory import free_memory
from niwaki.core.system import BINARY, flush, last_byte

MANIFEST = "MANIFEST"
BLOCK = 1 << 20
ALWAYS_FREE = 1 << 20  # bytes of memory that are not checked for: reading what is free takes a millisecond
SUM = re.compile(r', "crc": "([0-9a-f]{8})"}$')  # how a line ends that carries the checksum of what is before it
_warned: set[tuple[str, int]] = set()  # damaged lines that were named already


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def fingerprint(value: object) -> str:
    """A hash of plain data (anything JSON can say), independent of the order of keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Replaces `path` in one step: a reader, or a crash, sees the old text or the new, never a part."""
    temporary = path.with_name(f".{path.name}.tmp-{uuid.uuid4().hex[:8]}")
    with _naming(path):
        try:
            with temporary.open("xb") as file:  # new: a link is not followed
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        flush(path.parent)


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """The system's errors name the file that was meant: a failed write names none, and a temporary one says little."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def write_json(path: Path, value: object) -> None:
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """The file's value, or InputError in one line that names the file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from None


def append_line(path: Path, value: Json) -> None:
    """Adds one JSON line, with its checksum, and forces it to the disk. A line torn earlier is closed off first."""
    with _naming(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY, 0o666)
        try:
            torn = last_byte(handle) not in (b"", b"\n")
            left = memoryview((("\n" if torn else "") + line(value) + "\n").encode())
            while left:  # a disk that fills up takes a part first
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        finally:
            os.close(handle)


def read_lines(path: Path) -> list[Any]:
    """All whole JSON lines. One torn by a crash or damaged since is named and passed over.

    Lines without a checksum, as an earlier niwaki wrote them, are taken until the first that has one."""
    if not path.exists():
        return []
    values, summed = [], False
    for number, text in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), start=1):
        if not text:
            continue
        try:
            values.append(_unsummed(text, bare=not summed))
            summed = summed or SUM.search(text) is not None
        except (ValueError, RecursionError):
            if (str(path), number) not in _warned:
                _warned.add((str(path), number))
                info(f"{path}: line {number} is torn or damaged and is passed over")
    return values


def line(value: Json) -> str:
    """The value in one line of JSON that carries its checksum."""
    body = json.dumps(value, ensure_ascii=False)
    return f'{body[:-1]}, "crc": "{zlib.crc32(body.encode("utf-8", "surrogatepass")):08x}"}}'


def _unsummed(text: str, bare: bool) -> Any:
    """The value of a line; `bare` ones may lack a checksum."""
    checksum = SUM.search(text)
    if checksum is None:
        value = json.loads(text)
        if not bare or (isinstance(value, dict) and "crc" in value):
            raise ValueError("checksum")
        return value
    body = text[: checksum.start()] + "}"
    if zlib.crc32(body.encode("utf-8", "surrogatepass")) != int(checksum[1], 16):
        raise ValueError("checksum")
    return json.loads(body)


def files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in files_below(folder))


@contextlib.contextmanager
def commit_folder(target: Path) -> Iterator[Path]:
    """Gives a temporary folder to fill; on a clean exit it becomes `target`, durable and with its MANIFEST."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.tmp-{uuid.uuid4().hex[:8]}")
    try:
        temporary.mkdir()
        yield temporary
        _seal(temporary)
        _swap(temporary, target)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        reason = _reason(error, temporary)
        if reason is None:
            raise
        raise NiwakiError(f"{target}: could not be saved ({reason}); what was there before is intact") from error


def _reason(error: BaseException, temporary: Path) -> str | None:
    """What the disk had against a save, or None where something else went wrong in it."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, NiwakiError) and str(temporary) in str(error):  # what was just written cannot be read back
        return str(error).replace(f"{temporary}{os.sep}", "")
    return str(error) if "(os error " in str(error) else None  # safetensors wraps the system's errors in its own


def _seal(folder: Path) -> None:
    mode = 0o666 & ~_umask()
    entries = {}
    for path in files_below(folder):
        path.chmod(mode)  # safetensors writes 0600 whatever the umask says
        flush(path)
        entries[str(path.relative_to(folder))] = {"sha256": sha256(path), "bytes": path.stat().st_size}
    for below in sorted(path for path in folder.rglob("*") if path.is_dir()):
        flush(below)
    write_json(folder / MANIFEST, {"version": 1, "files": entries})


def _swap(temporary: Path, target: Path) -> None:
    old = target.with_name(f".{target.name}.old-{uuid.uuid4().hex[:8]}")
    if target.exists():
        target.rename(old)
    try:
        temporary.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
    flush(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def fault_in_folder(folder: Path) -> str | None:
    """Why a committed folder cannot be trusted, or None when every file is as its MANIFEST says."""
    if not folder.is_dir():
        return f"{folder}: is not a folder"
    if not (folder / MANIFEST).is_file():
        return f"{folder}: has no {MANIFEST}, so it was never finished"
    try:
        entries = [
            (name, entry["bytes"], entry["sha256"]) for name, entry in read_json(folder / MANIFEST)["files"].items()
        ]
    except (InputError, KeyError, TypeError, AttributeError):
        return f"{folder}/{MANIFEST}: is damaged"
    for name, size, digest in entries:
        path = folder / name
        try:
            if not path.is_file():
                return f"{path}: is missing"
            if path.stat().st_size != size or sha256(path) != digest:
                return f"{path}: is not what was saved (damaged or changed since)"
        except (OSError, ValueError) as error:  # a disk that fails, or a name that none can have
            return f"{path}: cannot be read ({error})"
    return None


def committed_files(folder: Path) -> set[str]:
    """The files that a sound folder was committed with; what came later is not among them."""
    return set(read_json(folder / MANIFEST)["files"])


def remove_leftovers(folder: Path) -> None:
    """Removes incomplete folders that a crash left, and restores one that was being replaced."""
    if not folder.is_dir():
        return
    for path in list(folder.iterdir()):
        if not path.name.startswith("."):
            continue
        name, mark, _ = path.name[1:].rpartition(".old-")
        if mark and not (folder / name).exists():
            path.rename(folder / name)
        elif mark or ".tmp-" in path.name:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def require_space(folder: Path, need_bytes: int, what: str) -> None:
    """Raises InputError before work starts if the disk of `folder` has less than `need_bytes` free."""
    existing = next(path for path in [folder, *folder.parents] if path.exists())
    free = shutil.disk_usage(existing).free
    if free < need_bytes:
        raise InputError(
            f"{folder}: {what} needs about {need_bytes / 1e6:.0f} MB and {free / 1e6:.0f} MB are free; "
            "free some space or choose another folder"
        )


def require_writable(folder: Path) -> None:
    """Raises InputError before work starts if no file can be created in a folder, or in its nearest existing parent."""
    existing = next(path for path in [folder, *folder.parents] if path.exists())
    probe = existing / f".probe.tmp-{uuid.uuid4().hex[:8]}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise InputError(f"{existing}: cannot be written to ({error.strerror}); choose another folder") from None


def require_memory(need_bytes: int, what: str) -> None:
    """Raises InputError before work starts if the machine, or the control group of this process, has less memory left."""
    free = free_memory() if need_bytes > ALWAYS_FREE else None
    if free is not None and free < need_bytes:
        raise InputError(
            f"{what} needs about {need_bytes / 1e6:.0f} MB of memory and {free / 1e6:.0f} MB are free; "
            "end other programs or choose a smaller model"
        )


def user_cache() -> Path:
    """Where what can be made again is kept for all runs of a user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "niwaki"


def newest_first(folders: Iterable[Path]) -> list[Path]:
    return sorted(folders, key=lambda path: path.name, reverse=True)
