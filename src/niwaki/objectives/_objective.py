"""The interface of objectives, and what they use of a task.

rows ── features ── batches ──> collator ── batch(…, generator) ──> forward ──> loss(outputs, batch)
                                                                    validation ──> score
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.errors import InputError
from niwaki.core.settings import Settings
from niwaki.data.batching import epoch_batches
from niwaki.models.criteria import Criterion
from niwaki.models.features import Features
from niwaki.models.forward import Batch, Outputs
from niwaki.models.head import Head
from niwaki.models.model import Model


class ScoresLogits(Protocol):
    def score_logits(self, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> float:
        """The primary metric of these logits."""

    def logit_errors(self, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> np.ndarray | None:
        """The error of each row of the table; None if the task defines none."""


class LabelledTask(Protocol):
    """What objectives use of a task."""

    @property
    def name(self) -> str: ...

    @property
    def head(self) -> Head: ...

    @property
    def criterion(self) -> Criterion: ...

    @property
    def scorer(self) -> ScoresLogits: ...

    def splits(self) -> Mapping[str, pa.Table]: ...

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features: ...


@runtime_checkable
class HasPlainTexts(Protocol):
    """A task whose rows are documents, to be predicted token by token."""

    @property
    def has_plain_texts(self) -> bool: ...

    @property
    def max_tokens(self) -> int:
        """Tokens of a sequence, at most."""


@runtime_checkable
class HasTranslations(HasPlainTexts, Protocol):
    """A task with plain texts whose rows may be pairs of a text and its translation."""

    @property
    def second_column(self) -> str:
        """The column of translations; "" where rows are single texts."""

    def pair_features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int) -> Features:
        """Two sequences for each row."""


class Validation(Protocol):
    """A model on the validation rows, without gradients."""

    @property
    def rows(self) -> EncodedInputs: ...

    def logits(self) -> np.ndarray:
        """(sequences, labels), or (tokens of all sequences, labels) from heads per token."""

    def passes(self, objective: "Objective") -> Iterator[tuple[Outputs, Batch]]:
        """Outputs for each batch of `objective`; its masks and noise are the same at every validation."""


@runtime_checkable
class CountsRows(Protocol):
    """An objective whose loss or noise needs frequencies of the training rows."""

    def count(self, features: Features) -> None:
        """Called after `prepare`, also when a run resumes."""


class ComparesRows:
    """An objective that compares the rows of a batch with each other, so that a batch cannot be cut into micro-shards."""


class Objective(ABC):
    """Base of the files in `objectives/`."""

    settings: ClassVar[type[Settings]] = (
        Settings  # what a recipe may set: objective = { use = "name", setting = value … }
    )
    version: ClassVar[int] = 1  # raise it when the same settings give another result; it is part of the stage key
    activations: ClassVar[frozenset[str]] = frozenset()  # that `loss` reads besides logits (models/record.py)
    trains_head: ClassVar[bool] = True  # else a method of the stage must fit the head
    reads_any_part: ClassVar[bool] = False  # sequences may be cut into several (train/short_sequences.py)
    keeps_last: ClassVar[bool] = False  # scores of different steps cannot be compared, so the last weights are kept
    keeps_helpers: ClassVar[bool] = False  # whether the helpers are part of the result, so that the best are kept too
    helpers: nn.Module | None = None  # modules next to the network, made by `prepare`: a generator, a second head

    def __init__(self, task: LabelledTask, settings: Settings | None = None) -> None:
        self.task, self.chosen = task, settings or self.settings()

    def check(self) -> None:  # noqa: B027 - most objectives accept all tasks
        """Raise InputError if the task cannot be trained so. Called when the plan is checked."""

    @property
    def head(self) -> Head:
        """The head that a model needs for this objective: the task's."""
        return self.task.head

    def prepare(self, model: Model, seed: int = 0) -> None:  # noqa: B027 - most objectives need nothing of the model
        """Called with the model of the stage before it is trained: read its vocabulary, set what its config must state, make
        `helpers` with weights from `seed`. Those are trained, checkpointed and validated with the network, and not saved with it."""

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features:
        """Encoded rows with their targets."""
        return self.task.features(rows, tokenizer, max_tokens)

    def batches(self, features: Features, size: int, seed: int, epoch: int) -> list[np.ndarray]:
        """Row numbers of every batch of an epoch, computed from (seed, epoch). Every epoch has equally many."""
        return epoch_batches(features.lengths, size, seed, epoch)

    def rows_per_epoch(self, rows: int) -> int:
        """How many rows `batches` gives at most, for estimates."""
        return rows

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        """The batch as the network sees it. Masks and noise come from `generator`, which is seeded by (seed, step)."""
        return batch

    @abstractmethod
    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        """What is minimized, a scalar."""

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        """Distance between the logits of a student and those of its teacher."""
        name = type(self).__module__.rpartition(".")[2]
        raise InputError(f"train.objective: '{name}' defines no loss between logits; distil with 'supervised'")

    @abstractmethod
    def score(self, validation: Validation) -> float:
        """How good a model is on the validation rows; higher is better."""

    def errors(self, validation: Validation) -> np.ndarray | None:
        """The error of each validation row, to compare two models row by row; None if the objective defines none."""
        return None
