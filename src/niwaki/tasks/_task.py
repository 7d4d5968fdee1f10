"""What every task can do: give its rows, turn them into features, a loss and scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer
from torch import Tensor

from niwaki.core.files import fingerprint
from niwaki.core.settings import Settings, setting

NO_LABEL = -100


@dataclass(frozen=True)
class Features:
    """Rows ready for a network: token ids, token types and targets, ragged, in the order of the rows."""

    ids: list[list[int]]
    types: list[list[int]]
    targets: np.ndarray  # NO_LABEL where a row has none
    texts: list[tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def lengths(self) -> list[int]:
        return [len(row) for row in self.ids]

    def joined(self, other: "Features") -> "Features":
        targets = np.concatenate([self.targets, other.targets])
        return Features(self.ids + other.ids, self.types + other.types, targets, self.texts + other.texts)


class Task(Settings):
    """Base of the files in `tasks/`. The fields are what a recipe may set under `[data]`."""

    max_tokens: int = setting(128, "texts are cut after this many tokens", ge=8, le=100_000)

    head: ClassVar[str] = "SequenceClassification"
    metric: ClassVar[str]  # the primary one, higher is better
    description: ClassVar[str] = ""

    @property
    def labels(self) -> list[str]:
        raise NotImplementedError

    def splits(self) -> dict[str, pa.Table]:
        """`train`, `validation`, `test`. Read once per task object."""
        raise NotImplementedError

    def texts(self, rows: pa.Table) -> list[tuple[str, ...]]:
        """One or two texts a row."""
        raise NotImplementedError

    def targets(self, rows: pa.Table) -> np.ndarray:
        raise NotImplementedError

    def features(self, rows: pa.Table, tokenizer: Tokenizer) -> Features:
        return encode(self.texts(rows), self.targets(rows), tokenizer, self.max_tokens)

    def loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        raise NotImplementedError

    def scores(self, logits: np.ndarray, targets: np.ndarray) -> dict[str, float]:
        """All metrics of the task; `metric` is among them."""
        raise NotImplementedError

    def transfer_texts(self, rows: int, seed: int) -> list[str]:
        """Unlabelled texts of the task's kind to distil on; a task that has none gives none."""
        return []

    def fingerprint(self) -> str:
        """Changes when the rows, their order, or what is made of them changes."""
        splits = self.splits()
        rows = {part: [self.texts(table), self.targets(table).tolist()] for part, table in splits.items()}
        settings = self.model_dump(exclude={"path"})  # the rows count, not where they lie
        return fingerprint([type(self).__name__, settings, self.labels, rows])


def encode(texts: Sequence[tuple[str, ...]], targets: np.ndarray, tokenizer: Tokenizer, max_tokens: int) -> Features:
    """Token ids with the family's marks, cut after `max_tokens` (of a pair, the longer text first)."""
    tokenizer = Tokenizer.from_str(tokenizer.to_str())  # truncation is set on a copy: the caller's stays as it is
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    inputs: list[Any] = [row[0] if len(row) == 1 else row for row in texts]
    encodings = tokenizer.encode_batch_fast(inputs)
    return Features([e.ids for e in encodings], [e.type_ids for e in encodings], targets, list(texts))
