"""The interface of objectives, and what they use of a task.

rows ── features ──> collator ── batch(…, generator) ──> forward ──> loss(outputs, batch)
                                                         validation ──> score
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar, Protocol

import numpy as np
import pyarrow as pa
import torch
from tokenizers import Tokenizer
from torch import Tensor

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.errors import InputError
from niwaki.models.criteria import Criterion
from niwaki.models.features import Features
from niwaki.models.forward import Batch, Outputs
from niwaki.models.head import Head


class ScoresLogits(Protocol):
    def score_logits(self, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> float:
        """The primary metric of these logits."""


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


class Validation(Protocol):
    """A model on the validation rows, without gradients."""

    @property
    def rows(self) -> EncodedInputs: ...

    def logits(self) -> np.ndarray:
        """(sequences, labels), or (tokens of all sequences, labels) from heads per token."""

    def passes(self, objective: "Objective") -> Iterator[tuple[Outputs, Batch]]:
        """Outputs for each batch of `objective`; its masks and noise are the same at every validation."""


class Objective(ABC):
    """Base of the files in `objectives/`."""

    version: ClassVar[int] = 1  # raise it when the same settings give another result; it is part of the stage key
    activations: ClassVar[frozenset[str]] = frozenset()  # that `loss` reads besides logits (models/record.py)
    trains_head: ClassVar[bool] = True  # else a method of the stage must fit the head

    def __init__(self, task: LabelledTask) -> None:
        self.task = task

    @property
    def head(self) -> Head:
        """The head that a model needs for this objective: the task's."""
        return self.task.head

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features:
        """Encoded rows with their targets."""
        return self.task.features(rows, tokenizer, max_tokens)

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
