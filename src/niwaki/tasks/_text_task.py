"""What tasks on a text or a pair of texts share: their columns and inputs."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from niwaki.answers._answer_type import Input
from niwaki.core.settings import setting
from niwaki.tasks._tables import as_text
from niwaki.tasks._task import NO_LABEL, Features, Task


class TextTask(Task):
    text: str = setting("", "column that holds the text; none guesses")
    second: str = setting("", "column that holds a second text, for tasks on pairs; none guesses")
    label: str = setting("", "column that holds the label; none guesses")

    column_roles: ClassVar[tuple[str, ...]] = ("text", "second", "label")

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        columns = self.columns(table)
        texts: dict[str, Any] = {
            role: as_text(table, columns[role], self.source()) for role in ("text", "second") if role in columns
        }
        self.reject_empty(part, pa.table(list(texts.values()), [columns[role] for role in texts]))
        return pa.table({**texts, "label": self.read_labels(part, table, columns["label"])})

    def read_labels(self, part: str, table: pa.Table, column: str) -> pa.ChunkedArray:
        """The label column as the task keeps it."""
        raise NotImplementedError

    def inputs(self, rows: pa.Table) -> list[Input]:
        texts = rows.column("text").to_pylist()
        return (
            list(zip(texts, rows.column("second").to_pylist(), strict=True)) if "second" in rows.column_names else texts
        )

    def augmentable_inputs(self, rows: pa.Table) -> list[Input]:
        return self.inputs(rows)

    def unlabelled_features(self, texts: Sequence[Input], tokenizer: Tokenizer, max_tokens: int) -> Features:
        encoded = self.answer_type.encode(texts, tokenizer, max_tokens)
        one = np.asarray(self.targets(self.splits()["train"].slice(0, 1), encoded))
        return Features(encoded, np.full((len(texts), *one.shape[1:]), NO_LABEL, dtype=one.dtype))
