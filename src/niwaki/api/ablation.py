"""Measures how much each part of a saved model contributes to a task."""

from collections.abc import Sequence
from pathlib import Path

from niwaki.api.task_choice import choose_task
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import warn_unverified
from niwaki.run.model_path import model_path


def sensitivity(
    model: str | Path, *, task: str = "", data: str | Path = "", overrides: Sequence[str] = (), rows: int = 64
) -> Json:
    """The loss on validation rows with each layer, head and matrix of a saved model removed in turn."""
    import torch

    from niwaki.evaluate.sensitivity import sensitivity as measure
    from niwaki.models.forward import forward
    from niwaki.models.model import load_folder
    from niwaki.tasks._model_check import adapt_to_model
    from niwaki.train.collator import Collator, encode_split

    chosen, folder = choose_task(task, data, overrides), model_path(model, single=True)
    loaded = load_folder(folder)
    warn_unverified(folder)
    adapt_to_model(chosen, folder, loaded.network.config.to_dict(), loaded.labels)
    collator = Collator(encode_split(loaded, chosen, "validation"), loaded, torch.device("cpu"))
    some = range(min(rows, len(collator.features)))
    batches = [collator.batch(some[first : first + 32]) for first in range(0, len(some), 32)]
    criterion = chosen.criterion
    found = measure(loaded, batches, lambda one, batch: criterion.loss(forward(one.anatomy, batch).logits, batch))
    return {"model": str(folder), "task": chosen.name, "rows": len(some), **found}
