"""Measures what a saved model costs by length of the text and part."""

from collections.abc import Sequence
from pathlib import Path

from niwaki.core.errors import UsageError
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import warn_unverified
from niwaki.run.model_path import model_path


def cost(model: str | Path, *, lengths: Sequence[int] = (32, 128, 512, 1024, 2048), compare: bool = True) -> Json:
    """Operations, bytes and seconds of a saved model for texts of some lengths, by part, and with `compare` the length from which each kind of
    cheaper attention is faster on this machine."""
    from niwaki.evaluate.cost import cost as measure
    from niwaki.models.model import load_folder

    if not lengths or min(lengths) < 2 or len(set(lengths)) != len(lengths):
        raise UsageError("show cost: lengths must be different whole numbers from 2 on")
    folder = model_path(model, single=True)
    loaded = load_folder(folder)
    warn_unverified(folder)
    return {"model": str(folder), **measure(loaded, sorted(lengths), compare)}
