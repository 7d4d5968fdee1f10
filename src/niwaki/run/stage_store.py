"""Finished stages by key, shared by all runs in one folder, so that runs with the same stage train it once.

    runs/.stages/<key>/       the files of a stage; its weights are hard links, so they use disk space once
    runs/.stages/<key>.lock   held by the run that makes this stage; other runs that need it wait

A run links a stage of the store into its own folder, which therefore stays complete: it can be moved, copied or deleted
without effect on other runs. Entries that no run links to any more are removed when the next run starts. Both directions
use the commit protocol, and every entry is verified before it is used.
"""

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from niwaki.core import system
from niwaki.core.errors import NiwakiError
from niwaki.core.files import commit_folder, committed_files, read_json, write_json
from niwaki.core.log import info
from niwaki.core.model_integrity import MODEL, RESULT
from niwaki.core.run_folder import fault_in_stage
from niwaki.models.stock import WEIGHTS
from niwaki.run.recipe_settings import Recipe
from niwaki.train.loop import Interrupted

STORE, LOCK = ".stages", ".lock"
LINKED = ".safetensors"  # other files are small, and are copied
POLL_SECONDS = 0.2
KEY = re.compile(r"[0-9a-f]{64}")


class StageStore:
    """The store in `folder`; None where stages are not shared."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError:  # the run folder can be written to, and the folder around it cannot
                self.folder = None

    def __contains__(self, key: str) -> bool:
        return self.folder is not None and (self.folder / key).is_dir()

    @contextlib.contextmanager
    def reserved(self, key: str, stage: str, should_stop: Callable[[], bool], wait: bool = True) -> Iterator[bool]:
        """Keeps other runs from making the same stage. Where another one makes it: waits, or gives False."""
        waits = 0

        def poll() -> None:
            nonlocal waits
            if should_stop():
                raise Interrupted
            if not waits:
                info(f"{stage}: another run makes the same stage; waiting for it")
            waits += 1
            time.sleep(POLL_SECONDS)

        with self._locked(key, poll if wait else None) as held:
            yield held

    def take(self, key: str, stage: str, target: Path) -> bool:
        """Links the stage into a run as `target`. False where the store does not have it, or only a damaged copy."""
        if self.folder is None or key not in self:
            return False
        entry = self.folder / key
        if fault := fault_in_stage(entry, key, unlisted=False):
            info(f"{fault}; it is removed from the store")
            shutil.rmtree(entry, ignore_errors=True)
            return False
        with commit_folder(target) as folder:
            link_files(entry, folder)
            write_json(folder / RESULT, {**read_json(entry / RESULT), "stage": stage})
        return True

    def add(self, key: str, source: Path) -> None:
        """Links a finished stage of a run into the store. The caller has reserved the key."""
        if self.folder is None or key in self:
            return
        try:
            with commit_folder(self.folder / key) as folder:
                link_files(source, folder)
        except NiwakiError as error:  # e.g. a disk without hard links: the run has its stage all the same
            info(f"{source}: is not shared with other runs: {error}")

    def offer(self, key: str, source: Path) -> None:
        """Adds a stage that an earlier start of the run finished, unless another run works on it."""
        if self.folder is not None and key not in self:
            with self._locked(key, None) as held:
                if held:
                    self.add(key, source)

    def prune(self) -> None:
        """Removes entries that no run links to, and what killed processes left half-written."""
        for path in [*self.folder.iterdir()] if self.folder is not None else ():
            key = path.name.removeprefix(".").partition(".")[0]
            if KEY.fullmatch(key) and path.is_dir() and (path.name != key or not _is_linked(path)):
                with self._locked(key, None) as held:
                    if held:
                        shutil.rmtree(path, ignore_errors=True)

    @contextlib.contextmanager
    def _locked(self, key: str, wait: Callable[[], None] | None) -> Iterator[bool]:
        """Holds the key's lock, which ends with its process. Where it is taken: calls `wait` and tries again, or gives False."""
        if self.folder is None:
            yield True
            return
        path = self.folder / f"{key}{LOCK}"
        while (handle := _try_lock(path)) is None:
            if wait is None:
                yield False
                return
            wait()
        try:
            yield True
        finally:
            with contextlib.suppress(PermissionError):  # Windows does not remove an open file
                path.unlink(missing_ok=True)
            os.close(handle)


def _try_lock(path: Path) -> int | None:
    """An open handle that holds the lock, or None. A file that its holder removed in between does not count."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | system.PRIVATE, 0o666)
    try:
        system.lock(handle, wait=False)
        if os.path.samestat(os.fstat(handle), path.stat()):
            return handle
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(handle)
    return None


def _is_linked(entry: Path) -> bool:
    weights = entry / MODEL / WEIGHTS
    return weights.is_file() and weights.stat().st_nlink > 1


def link_files(source: Path, target: Path) -> None:
    """The committed files of a stage: weights as hard links, all others as copies."""
    for name in committed_files(source):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(LINKED):
            (target / name).hardlink_to(source / name)
        else:
            shutil.copyfile(source / name, target / name)


def store_of(recipe: Recipe, run_folder: Path) -> StageStore:
    return StageStore(run_folder.absolute().parent / STORE if recipe.cache.stages else None)
