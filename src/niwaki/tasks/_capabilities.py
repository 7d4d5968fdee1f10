"""What some tasks can do beyond the `Task` interface. Callers check with `isinstance`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input, Value
from niwaki.models.features import Features


@runtime_checkable
class AcceptsUnlabelledTexts(Protocol):
    """Its inputs are texts or pairs of texts, so unlabelled texts and augmented copies can be added."""

    def unlabelled_features(self, texts: Sequence[Input], tokenizer: Tokenizer, max_tokens: int) -> Features:
        """Features of texts without labels."""


@runtime_checkable
class BringsUnlabelledTexts(Protocol):
    def unlabelled_texts(self, rows: int, seed: int) -> list[str]:
        """Unlabelled texts of the same kind, to distil on."""


@runtime_checkable
class AcceptsTeacherAnswers(Protocol):
    def with_answers(self, rows: pa.Table, values: Sequence[Value]) -> pa.Table:
        """The rows with these answers instead of the gold answers."""


@runtime_checkable
class TunesAnswerType(Protocol):
    def tuned(self, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> AnswerType:
        """The answer type with settings chosen on validation rows, such as a threshold."""


@runtime_checkable
class DependsOnStartModel(Protocol):
    def set_start_model(self, folder: Path) -> None:
        """Called with the recipe's model before anything else: a seq2seq model has its own target tokenizer."""

    def use_answer_type(self, answer_type: AnswerType) -> None:
        """Encodes targets as a saved model does."""


@runtime_checkable
class BringsFiles(Protocol):
    def files(self) -> dict[str, bytes]:
        """Files that the answer type needs next to the network, by name."""


@runtime_checkable
class AddsTrainRows(Protocol):
    def extra_rows(self, rows: pa.Table) -> pa.Table:
        """Further train rows, for the train rows given."""


@runtime_checkable
class ReadsOtherFiles(Protocol):
    """Reads more than its rows, such as a database or an inventory."""

    def extra_digest(self) -> object:
        """Changes when what else is read changes."""

    def extra_remarks(self) -> Iterator[str]:
        """What a user should know about what else is read."""
