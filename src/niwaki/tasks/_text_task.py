"""Base of tasks on a text or a pair of texts with a label column."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from niwaki.answers._answer_type import Input, Value
from niwaki.core.settings import setting
from niwaki.models.features import Features
from niwaki.models.forward import NO_LABEL
from niwaki.tasks._tables import as_text
from niwaki.tasks._task import Task

ROLES = ("text", "second", "label")


class TextTask(Task):
    text: str = setting("", "column that holds the text; none guesses")
    second: str = setting("", "column that holds a second text, for tasks on pairs; none guesses")
    label: str = setting("", "column that holds the label; none guesses")

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        columns = self.data.columns(table)
        texts: dict[str, pa.ChunkedArray] = {
            role: as_text(table, columns[role], self.data.source) for role in ("text", "second") if role in columns
        }
        self.data.reject_empty(part, pa.table(list(texts.values()), [columns[role] for role in texts]))
        return pa.table({**texts, "label": self.read_labels(part, table, columns["label"])})

    def read_labels(self, part: str, table: pa.Table, column: str) -> pa.ChunkedArray:
        """The label column in the task's own type."""
        raise NotImplementedError

    def inputs(self, rows: pa.Table) -> list[Input]:
        texts = rows.column("text").to_pylist()
        return (
            list(zip(texts, rows.column("second").to_pylist(), strict=True)) if "second" in rows.column_names else texts
        )

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("label").to_pylist()

    def unlabelled_features(self, texts: Sequence[Input], tokenizer: Tokenizer, max_tokens: int) -> Features:
        encoded = self.answer_type.encode(texts, tokenizer, max_tokens)
        example = np.asarray(self.targets(self.splits()["train"].slice(0, 1), encoded))
        return Features(encoded, np.full((len(texts), *example.shape[1:]), NO_LABEL, dtype=example.dtype))
