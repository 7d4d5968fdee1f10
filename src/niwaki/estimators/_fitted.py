"""The model of a fitted estimator: a folder while it is used, bytes while it is pickled."""

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from niwaki.engines.predictor import Predictor

Files = dict[str, bytes]  # path below the folder → content


class FittedModel:
    """A model folder and its predictor, which is opened on first use. A temporary folder is removed with the object."""

    def __init__(self, folder: Path, temporary: bool) -> None:
        self.folder = folder
        self._predictor: Predictor | None = None
        if temporary:
            weakref.finalize(self, _remove, folder, os.getpid())

    @classmethod
    def moved(cls, source: Path) -> "FittedModel":
        """Takes a model out of the folder in which it was trained."""
        home = Path(tempfile.mkdtemp(prefix="niwaki-fitted-"))
        shutil.move(str(source), home / "model")
        return cls(home / "model", temporary=True)

    @property
    def predictor(self) -> "Predictor":
        from niwaki.engines.cascade import open_predictor

        if self._predictor is None:
            self._predictor = open_predictor(self.folder)
        return self._predictor

    def __getstate__(self) -> Files:
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}

    def __setstate__(self, files: Files) -> None:
        folder = Path(tempfile.mkdtemp(prefix="niwaki-fitted-")) / "model"
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        FittedModel.__init__(self, folder, temporary=True)


def _remove(folder: Path, owner: int) -> None:
    """A forked child must not remove the folder of its parent."""
    if os.getpid() == owner:
        shutil.rmtree(folder.parent, ignore_errors=True)
