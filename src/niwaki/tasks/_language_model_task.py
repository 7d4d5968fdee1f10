"""Base of tasks that a language model answers with likelihoods: it needs no labels, and reads texts as its start model does."""

from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Value
from niwaki.answers._from_config import answer_type_of
from niwaki.answers.likelihood import Likelihood, Scoring
from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.data.ragged import Ragged
from niwaki.models.config_rules import read as read_config
from niwaki.models.criteria import Criterion
from niwaki.models.family import family_of, is_always_causal
from niwaki.models.tokenizer_loading import plain_tokenizer
from niwaki.models.tokenizer_settings import SETTINGS, SPECIAL_TOKENS
from niwaki.tasks._task import Task


class LanguageModelTask(Task):
    answer: ClassVar[str] = "likelihood"
    passes: ClassVar[int] = 0  # of masked scoring, see `answers/likelihood.py`

    @property
    def labels(self) -> list[str]:
        return []

    @cached_property
    def answer_type(self) -> AnswerType:
        return Likelihood(passes=self.passes)

    def set_start_model(self, folder: Path) -> None:
        """Scores as the model was trained to predict; one that states nothing, by masking."""
        self.__dict__["answer_type"] = likelihood_of(folder).model_copy(update={"passes": self.passes})
        self.__dict__.pop("head", None)

    def use_answer_type(self, answer_type: AnswerType) -> None:
        self.__dict__["answer_type"] = answer_type

    def gold(self, rows: pa.Table) -> list[Value]:
        return [None] * rows.num_rows

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> np.ndarray | Ragged:
        return np.full(len(encoded), -100)

    @cached_property
    def criterion(self) -> Criterion:
        raise InputError(
            f"train.objective: task '{self.name}' has no labels; set an objective that predicts tokens, e.g. 'masked_lm'"
        )


def likelihood_of(folder: Path) -> Likelihood:
    """How a saved model scores texts."""
    config = read_config(folder)
    found = answer_type_of(config, str(folder))
    if isinstance(found, Likelihood):
        return found
    scoring: Scoring = "causal" if is_always_causal(family_of(str(config["model_type"]))) else "masked"
    return Likelihood(scoring=scoring, mask_token_id=mask_token_id(folder))


def mask_token_id(folder: Path) -> int:
    """The id of the token that the tokenizer's settings call its mask token; -1 where there is none."""
    tables = [strict_json.load(folder / name) for name in (SETTINGS, SPECIAL_TOKENS) if (folder / name).is_file()]
    named = next((table["mask_token"] for table in tables if isinstance(table, dict) and table.get("mask_token")), None)
    content = named.get("content") if isinstance(named, dict) else named
    found = None if content is None else plain_tokenizer(folder, read_config(folder)).token_to_id(str(content))
    return -1 if found is None else found
