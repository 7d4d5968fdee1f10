"""Opens a saved model for prediction."""

from pathlib import Path

from niwaki.core.errors import UsageError
from niwaki.core.head_folder import existing_head, head_names
from niwaki.core.model_integrity import warn_unverified
from niwaki.engines.cascade import open_predictor
from niwaki.engines.predictor import Predictor
from niwaki.engines.pretrained_head import EMBEDDING, LANGUAGE_MODEL, PretrainedHead, Trunk, has_pretrained_head
from niwaki.run.model_path import model_path


def load(
    path: str | Path, engine: str = "auto", threads: int | None = None, stage: str = "", head: str = ""
) -> Predictor:
    """Opens a model folder, or a run folder: its recommended stage, or the one named `stage`. `head` names an additional head;
    `language_model` is the one that a published checkpoint was pretrained with, `embedding` averages the token states of a language model.

    >>> niwaki.load("runs/rotten_tomatoes").predict(["a film to see twice"])
    """
    if not isinstance(path, str | Path):
        raise UsageError(f"load: the path must be text or a Path (given: {type(path).__name__})")
    folder = model_path(path, stage)
    if head in (LANGUAGE_MODEL, EMBEDDING) and head not in head_names(folder):
        return open_pretrained(folder, head, engine, threads)
    folder = existing_head(folder, head) if head else folder
    predictor = open_predictor(folder, engine, threads)
    warn_unverified(folder)  # after loading: a folder that is rejected says so in one line
    return predictor


def load_language_model(
    path: str | Path, engine: str = "auto", threads: int | None = None, stage: str = "", head: str = ""
) -> Predictor:
    """As `load`, with the pretraining head of a published checkpoint. Raises UsageError if the model predicts no tokens."""
    predictor = load(path, engine, threads, stage, head or LANGUAGE_MODEL)
    _ = predictor.likelihood
    return predictor


def open_pretrained(folder: Path, head: str, engine: str, threads: int | None) -> Predictor:
    """A model by a head of this name, whatever head its config names."""
    other = PretrainedHead if head == LANGUAGE_MODEL else Trunk
    kind = other if has_pretrained_head(folder) == (head == LANGUAGE_MODEL) else open_predictor
    predictor = kind(folder, engine, threads)
    warn_unverified(folder)
    return predictor
