"""What `import niwaki` offers. The command line calls the same functions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from niwaki.core.errors import UsageError
from niwaki.engines.predictor import Predictor
from niwaki.run.result import Run
from niwaki.run.start import RUNS, check, run

__all__ = ["RUNS", "check", "evaluate", "load", "run"]


def load(path: str | Path, engine: str = "auto", threads: int | None = None) -> Predictor:
    """A model ready for text: `load(folder).predict(["…"])`. A run's folder gives the stage its report says to deploy."""
    if not isinstance(path, str | Path):
        raise UsageError(f"load: the path must be text or a Path (given: {type(path).__name__})")
    folder = Path(path).expanduser()
    if any((folder / name).is_file() for name in ("plan.json", "report.json")):
        folder = Run.read(folder).deploy
    return Predictor(folder, engine, threads)


def evaluate(
    model: str | Path,
    *,
    task: str = "rotten_tomatoes",
    data: str | Path = "",
    split: str = "test",
    engine: str = "auto",
    overrides: Sequence[str] = (),
) -> dict[str, Any]:
    """The scores of a saved model on a split of a task, each with its interval. `overrides` are those of a recipe's data."""
    from niwaki.core.errors import Refused, did_you_mean
    from niwaki.core.settings import check as checked
    from niwaki.evaluate.quality import quality
    from niwaki.run.recipe import apply_override
    from niwaki.tasks import TASKS
    from niwaki.tasks._task import Task

    values: dict[str, Any] = {"data": {"path": str(data)} if data else {}}
    for override in overrides:
        if not override.startswith("data."):
            raise Refused(f"--set {override}: only settings of the data count here; write data.key=value")
        apply_override(values, override)
    chosen = checked(TASKS.load("classification" if data else task, Task), values["data"], "data")
    splits = chosen.splits()
    if split not in splits:
        raise Refused(f"split '{split}': is not there{did_you_mean(split, list(splits))}")
    predictor = load(model, engine)
    if predictor.labels != chosen.labels:
        raise Refused(
            f"{predictor.folder}: its labels are {predictor.labels}, the task's are {chosen.labels}; choose the task it was made for"
        )
    rows = [row[0] if len(row) == 1 else row for row in chosen.texts(splits[split])]
    return quality(chosen, predictor.logits(rows), chosen.targets(splits[split]))
