"""Models read by another head than their config names: published checkpoints by the one that they were pretrained with, language models by
none."""

from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.answers._from_config import is_bare_encoder
from niwaki.core.errors import InputError, UsageError
from niwaki.core.json_types import Json
from niwaki.engines.predictor import Predictor, check_model_folder
from niwaki.engines.runtime import Runtime
from niwaki.models.config_rules import read as read_config

if TYPE_CHECKING:
    from niwaki.models.head import Head

LANGUAGE_MODEL, EMBEDDING = "language_model", "embedding"  # names of these heads


def has_pretrained_head(folder: Path) -> bool:
    """Whether a folder is a checkpoint without a task head, so that its pretraining head may be there."""
    return folder.is_dir() and (folder / "config.json").is_file() and is_bare_encoder(check_model_folder(folder))


class OtherHead(Predictor):
    """A model read by another head than its config names. It runs in torch: such folders have no graph of it."""

    def __init__(self, folder: Path, engine: str = "", threads: int | None = None) -> None:
        if engine not in ("", "auto", "torch"):
            raise UsageError(f"{folder}: this head runs in torch; leave --engine out")
        super().__init__(folder, "torch", threads)

    def _read_config(self, folder: Path) -> Json:
        self._head = self._head_of(folder)
        return {**check_model_folder(folder), "niwaki_answer": self._head.answer}

    def _head_of(self, folder: Path) -> "Head":
        raise NotImplementedError

    def _open_runtime(self, runtime: type[Runtime]) -> Runtime:
        from niwaki.engines.runtimes.torch import Torch

        return Torch(self.folder, self.threads, self._head)


class PretrainedHead(OtherHead):
    """The language model of a checkpoint such as `AlbertForMaskedLM`."""

    def _head_of(self, folder: Path) -> "Head":
        return masked_head(folder)


class Trunk(OtherHead):
    """Sentence embeddings of a language model: the mean of its last hidden states."""

    def _head_of(self, folder: Path) -> "Head":
        from niwaki.models.head import no_head

        config = read_config(folder)
        if config.get("is_decoder"):
            raise InputError(f"{folder}: attends to earlier tokens only; take a masked language model for embeddings")
        return no_head(config)


def masked_head(folder: Path) -> "Head":
    from niwaki.models.head import Head
    from niwaki.models.model import has_head
    from niwaki.models.skeleton import MASKED_LM
    from niwaki.tasks._language_model_task import likelihood_of

    head = Head([], MASKED_LM, likelihood_of(folder).to_json())
    if not has_head(folder, head):
        raise InputError(
            f"{folder}: its weights have no language-model head; take a checkpoint for masked language modeling"
        )
    return head
