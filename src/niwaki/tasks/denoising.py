"""Plain texts for pretraining encoder-decoders: their tokens are to be found where noise hides or changes them."""

from functools import cached_property
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
from tokenizers import Tokenizer

from niwaki.answers._from_config import answer_type_of
from niwaki.answers.reconstruction import Reconstruction
from niwaki.core.errors import InputError
from niwaki.models.config_rules import read as read_config
from niwaki.models.criteria import Criterion
from niwaki.models.features import Features
from niwaki.models.target_tokenizer import load_target_tokenizer
from niwaki.tasks.language_modeling import LanguageModeling, LikelihoodScorer


class Denoising(LanguageModeling):
    answer: ClassVar[str] = "reconstruction"
    description: ClassVar[str] = "texts that noise has changed"
    reconstructs_texts: ClassVar[bool] = True  # objectives that add noise need it

    @property
    def labels(self) -> list[str]:
        return ["text"]

    @cached_property
    def answer_type(self) -> Reconstruction:
        return Reconstruction()

    def set_start_model(self, folder: Path) -> None:
        """Scores as the model was trained, with its special tokens."""
        found, own = answer_type_of(read_config(folder), str(folder)), load_target_tokenizer(folder)
        if not isinstance(found, Reconstruction):
            special = {} if own is None else {name: own.special_tokens[name] for name in ("start", "end")}
            found = Reconstruction(**special)
        self.__dict__["answer_type"] = found
        self.__dict__.pop("head", None)

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features:
        """Sequences whose targets are their own tokens."""
        found = super().features(rows, tokenizer, max_tokens)
        return Features(found.rows, found.rows.ids)

    @cached_property
    def criterion(self) -> Criterion:
        raise InputError(
            f"train.objective: task '{self.name}' has no labels; set an objective that adds noise, e.g. 'span_corruption'"
        )

    @cached_property
    def scorer(self) -> "ReconstructionScorer":
        return ReconstructionScorer(self)


class ReconstructionScorer(LikelihoodScorer):
    def note(self) -> str:
        return "Perplexities are of the tokens that are generated: compare them only for the same noise and tokenizer."
