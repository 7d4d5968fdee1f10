"""Builds a cascade of saved models."""

from collections.abc import Sequence
from pathlib import Path

from niwaki.api.task_choice import choose_task
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import warn_unverified
from niwaki.run.model_path import model_path


def cascade(
    models: Sequence[str | Path],
    *,
    task: str = "",
    data: str | Path = "",
    keep: float = 0.99,
    level: float = 0.95,
    out: str | Path = "cascade",
    overrides: Sequence[str] = (),
    engine: str = "",
    force: bool = False,
) -> Json:
    """Saves a cascade of models, cheapest first, that keeps a share of the last one's score.

    Raises GateMissed if the validation rows cannot show that it does.
    """
    from niwaki.run.cascade import make

    folders = [model_path(model, single=True) for model in models]
    result = make(folders, choose_task(task, data, overrides), Path(out).expanduser(), keep, level, engine, force)
    for folder in folders:
        warn_unverified(folder)
    return result
