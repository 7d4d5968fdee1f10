"""What `import niwaki` offers. The command line calls the same functions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from niwaki.core.errors import UsageError
from niwaki.engines.predictor import Predictor
from niwaki.run.result import Run

RUNS = Path("runs")


def run(
    recipe: str | Path = "rotten_tomatoes",
    *,
    out: str | Path | None = None,
    overrides: Sequence[str] = (),
    data: str | Path = "",
) -> Run:
    """Runs a recipe (a shipped one by name, or a .toml file) and gives what came of it. Finished stages are not made again.

    `data` puts your own labelled rows in the place of the recipe's task.
    """
    from niwaki.run.recipe import read
    from niwaki.run.runner import execute

    path, name, overrides = _resolve(recipe, overrides, data)
    folder = Path(out) if out else RUNS / name
    return Run(folder, execute(read(path, overrides), name, folder))


def load(path: str | Path, engine: str = "auto", threads: int | None = None) -> Predictor:
    """A model ready for text: `load(folder).predict(["…"])`. A run's folder gives the stage its report says to deploy."""
    if not isinstance(path, str | Path):
        raise UsageError(f"load: the path must be text or a Path (given: {type(path).__name__})")
    folder = Path(path).expanduser()
    if any((folder / name).is_file() for name in ("plan.json", "report.json")):
        folder = Run.read(folder).deploy
    return Predictor(folder, engine, threads)


def check(
    recipe: str | Path = "rotten_tomatoes", *, overrides: Sequence[str] = (), data: str | Path = ""
) -> dict[str, Any]:
    """Validates a recipe and says what it would do, need and take. Does no work."""
    from niwaki.run.estimate import estimate
    from niwaki.run.plan import make_plan
    from niwaki.run.recipe import read

    path, name, overrides = _resolve(recipe, overrides, data)
    plan = make_plan(read(path, overrides), name)
    return {**plan.to_json(), "estimate": estimate(plan)}


def evaluate(
    model: str | Path,
    *,
    task: str = "rotten_tomatoes",
    data: str | Path = "",
    split: str = "test",
    engine: str = "auto",
) -> dict[str, Any]:
    """The scores of a saved model on a split of a task, each with its interval."""
    from niwaki.core.errors import Refused, did_you_mean
    from niwaki.core.settings import check as checked
    from niwaki.evaluate.quality import quality
    from niwaki.tasks import TASKS
    from niwaki.tasks._task import Task

    chosen = checked(TASKS.load("classification" if data else task, Task), {"path": str(data)} if data else {}, "data")
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


def _resolve(recipe: str | Path, overrides: Sequence[str], data: str | Path) -> tuple[Path, str, list[str]]:
    """The recipe's file, the run's name, and the overrides with `data` among them (before the user's own, which may refine it)."""
    from niwaki.run.recipe import locate

    path = locate(str(recipe))
    if not data:
        return path, path.stem, list(overrides)
    return (
        path,
        f"{Path(data).stem}-{path.stem}",
        ['task="classification"', f"data.path={json.dumps(str(data))}", *overrides],
    )
