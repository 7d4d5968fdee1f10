"""What `import niwaki` offers. The command line calls the same functions."""

from pathlib import Path
from typing import Any

from niwaki.core.errors import UsageError
from niwaki.engines.predictor import Predictor
from niwaki.run.result import Run

RUNS = Path("runs")


def run(
    recipe: str | Path = "rotten_tomatoes", *, out: str | Path | None = None, overrides: list[str] | None = None
) -> Run:
    """Runs a recipe (a shipped one by name, or a .toml file) and gives what came of it; finished stages are not made again."""
    from niwaki.run.recipe import locate, read
    from niwaki.run.runner import execute

    path = locate(str(recipe))
    folder = Path(out) if out else RUNS / path.stem
    report = execute(read(path, overrides), path.stem, folder, path.read_text(encoding="utf-8"))
    return Run(folder, report)


def load(path: str | Path, engine: str = "auto", threads: int | None = None) -> Predictor:
    """A model ready for text: `load(folder).predict(["…"])`. A run's folder gives the stage its report says to deploy."""
    folder = Path(path)
    if not isinstance(path, str | Path):
        raise UsageError(f"load: the path must be text or a Path (given: {type(path).__name__})")
    if (folder / "report.json").is_file():
        folder = Run.read(folder).deploy
    return Predictor(folder, engine, threads)


def check(recipe: str | Path = "rotten_tomatoes", overrides: list[str] | None = None) -> dict[str, Any]:
    """Validates a recipe and says what it would do, need and take. Does no work."""
    from niwaki.run.estimate import estimate
    from niwaki.run.plan import make_plan
    from niwaki.run.recipe import locate, read

    path = locate(str(recipe))
    plan = make_plan(read(path, overrides), path.stem)
    return {**plan.to_json(), "estimate": estimate(plan)}
