"""Batches of tensors from features."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
import torch
from tokenizers import Tokenizer
from torch import Tensor

from niwaki.data.ragged import Ragged
from niwaki.models.features import Features
from niwaki.models.forward import NO_LABEL, Batch
from niwaki.models.generation import search_of, shift_right
from niwaki.models.input_readers import encoder_of
from niwaki.models.model import Model
from niwaki.models.pairs import reads_token_types
from niwaki.tasks._task import Task


class Collator:
    """Rows of a task, encoded with one model's tokenizer, as batches for that model."""

    def __init__(self, features: Features, model: Model, device: torch.device) -> None:
        self.features = features
        self.device = device
        self.pad_id = int(getattr(model.network.config, "pad_token_id", None) or 0)
        self.uses_token_types = reads_token_types(model.anatomy)
        self.start = search_of(model).start if model.anatomy.is_seq2seq else None

    @property
    def lengths(self) -> np.ndarray:
        return self.features.lengths

    def batch(self, rows: Sequence[int] | np.ndarray) -> Batch:
        inputs, targets = self.inputs(self.features.rows.sequences(rows)), self._targets(rows).to(self.device)
        if self.start is not None:
            inputs["decoder_input_ids"] = shift_right(targets, self.start)
        return Batch(inputs, targets, torch.as_tensor(np.asarray(rows)))

    def inputs(self, sequences: np.ndarray) -> dict[str, Tensor]:
        """The network's arguments for some sequences."""
        arrays = self.features.rows.padded(sequences, self.pad_id)
        if not self.uses_token_types:
            arrays.pop("token_type_ids", None)
        return {name: torch.from_numpy(array).to(self.device) for name, array in arrays.items()}

    def _targets(self, rows: Sequence[int] | np.ndarray) -> Tensor:
        targets = self.features.targets
        if isinstance(targets, Ragged):
            return torch.from_numpy(targets.padded(rows, NO_LABEL)[0])
        return torch.from_numpy(targets[np.asarray(rows)])


class EncodesRows(Protocol):
    """A task or an objective."""

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features: ...


def encode_split(model: Model, task: Task, part: str) -> Features:
    """Features of a split of the task."""
    return encode_rows(model, task, task.splits()[part])


def encode_rows(model: Model, encoder: EncodesRows, rows: pa.Table) -> Features:
    """Features of rows in the model's tokens, truncated to its maximum length."""
    return encoder.features(rows, encoder_of(model.tokenizer), model.anatomy.max_tokens)
