"""Opens a saved model for prediction, and finds the model folder that a path stands for."""

from pathlib import Path

from niwaki.core.errors import UsageError
from niwaki.core.head_folder import existing_head
from niwaki.core.model_integrity import warn_unverified
from niwaki.core.run_folder import is_run
from niwaki.engines.cascade import open_predictor
from niwaki.engines.predictor import Predictor
from niwaki.run.result import Run


def load(
    path: str | Path, engine: str = "auto", threads: int | None = None, stage: str = "", head: str = ""
) -> Predictor:
    """Opens a model folder, or a run folder: its recommended stage, or the one named `stage`. `head` names an additional head.

    >>> niwaki.load("runs/rotten_tomatoes").predict(["a film to see twice"])
    """
    if not isinstance(path, str | Path):
        raise UsageError(f"load: the path must be text or a Path (given: {type(path).__name__})")
    folder = existing_head(model_path(path, stage), head) if head else model_path(path, stage)
    predictor = open_predictor(folder, engine, threads)
    warn_unverified(folder)  # after loading: a folder that is rejected says so in one line
    return predictor


def model_path(path: str | Path, stage: str = "") -> Path:
    """The model folder that a path stands for. A run folder is verified and stands for its recommended or the named stage; a path such as
    `runs/mine/student` stands for the stage `student` of the run `runs/mine`."""
    folder = Path(path).expanduser()
    if not stage and not folder.exists() and is_run(folder.parent):
        folder, stage = folder.parent, folder.name
    if stage and not is_run(folder):
        raise UsageError(f"{folder}: is not the folder of a run, so it has no stage '{stage}'; leave the stage out")
    if stage:
        return Run.read(folder).model(stage)
    return Run.read(folder).deploy if is_run(folder) else folder
