"""Merges models that were tuned from the same one, and measures what that cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from niwaki.api.evaluation import evaluate
from niwaki.api.heads import head_name
from niwaki.core.errors import UsageError
from niwaki.core.json_types import Json
from niwaki.run.model_path import model_path


def merge(
    models: Sequence[str | Path],
    out: str | Path = "merged",
    *,
    how: Literal["average", "arithmetic", "ties"] = "average",
    base: str | Path = "",
    weights: Sequence[float] = (),
    density: float = 0.2,
    data: Sequence[str | Path] = (),
    tasks: Sequence[str] = (),
    split: str = "test",
) -> Json:
    """Writes a model whose encoder is merged from several, and returns where each task is answered. `base` is the model that all were
    tuned from; `density` is the share of each task vector that ties keeps. `data` and `tasks`, one for all or one for each model, also
    score each model before and after.

    >>> niwaki.merge(["runs/a", "runs/b"], "merged", how="ties", base="encoder", data=["a.csv", "b.csv"])
    """
    from niwaki.run.merging import merge as write

    if isinstance(models, str | Path):
        raise UsageError("merge: models is a list of folders")
    sources: dict[str, Path] = {}
    for model in models:
        name = head_name(model)
        sources[name if name not in sources else f"{name}-{len(sources)}"] = model_path(model, single=True)
    start = model_path(base, single=True) if base else None
    rows, named = one_for_each(data, len(sources), "data"), one_for_each(tasks, len(sources), "tasks")
    homes = write(sources, Path(out).expanduser(), how, start, weights, density)
    found = {name: {"folder": str(home)} for name, home in homes.items()}
    for number, (name, home) in enumerate(homes.items()):
        if rows[number] or named[number]:
            found[name] |= cost(sources[name], home, rows[number], named[number], split)
    return {"out": str(out), "how": how, "models": found}


def cost(before: Path, after: Path, data: str, task: str, split: str) -> Json:
    """The score of a model before and after it was merged, and the difference by a paired bootstrap."""
    scored = evaluate(after, data=data, task=task, split=split, against=before)
    other = scored["against"]
    return {"metric": scored["metric"], "before": other["value"], "after": scored["value"], "paired": other["paired"]}


def one_for_each(given: Sequence[str | Path], count: int, what: str) -> list[str]:
    if len(given) not in (0, 1, count):
        raise UsageError(f"merge: {len(given)} {what} for {count} models; give one for all, or one for each")
    return [str(one) for one in given] if len(given) == count else [str(given[0]) if given else ""] * count
