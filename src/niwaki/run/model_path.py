"""Finds the model folder that a path or a name stands for."""

from pathlib import Path

from niwaki.core.errors import UsageError
from niwaki.core.run_folder import is_run
from niwaki.run.result import Run


def model_path(path: str | Path, stage: str = "", *, single: bool = False) -> Path:
    """The model folder that a path stands for. A run folder is verified and stands for its cascade, its recommended stage or the named
    one; a path such as `runs/mine/student` stands for the stage `student` of the run `runs/mine`. `single` leaves out cascades."""
    folder = Path(path).expanduser()
    if not stage and not folder.exists() and is_run(folder.parent):
        folder, stage = folder.parent, folder.name
    if stage and not is_run(folder):
        raise UsageError(f"{folder}: is not the folder of a run, so it has no stage '{stage}'; leave the stage out")
    if stage:
        return Run.read(folder).model(stage)
    if not is_run(folder):
        return folder
    run = Run.read(folder)
    return run.deployed_model if single else run.deploy


def locate_model(name: str) -> Path:
    """The folder of a model that a recipe names: embedded, of a run or one of its stages, a model folder, or a Hugging Face id."""
    from niwaki.models.sources import locate  # needs torch, which prediction does without

    folder = Path(name).expanduser()
    of_run = is_run(folder) or (not folder.exists() and is_run(folder.parent))
    return model_path(folder, single=True) if of_run else locate(name)
