"""Your own pairs of texts: one is read, the other is to be written."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from niwaki.answers._kind import Input, Value
from niwaki.core.settings import setting
from niwaki.tasks._tables import as_text
from niwaki.tasks._task import Task


class Writing(Task):
    source_column: str = setting("", "column that holds what is read; none guesses")
    target_column: str = setting("", "column that holds what is to be written; none guesses")
    split: Literal["words", "bpe", "wordpiece", "bytes", "characters"] = setting("bpe", "pieces of what is written")

    form: ClassVar[str] = "writing"
    answer: ClassVar[str] = "text"
    roles: ClassVar[tuple[str, ...]] = ("source_column", "target_column")
    metric: ClassVar[str] = "exact"
    description: ClassVar[str] = "a text for a text"

    def checked(self, part: str, table: pa.Table) -> pa.Table:
        columns = self.columns(table)
        source, target = (columns[role] for role in self.roles)
        texts = pa.table({name: as_text(table, name, self.source()) for name in dict.fromkeys((source, target))})
        self.refuse_empty(part, texts)
        return pa.table({"text": texts.column(source), "target": texts.column(target)})

    @property
    def labels(self) -> list[str]:
        return ["text"]

    def canonical(self, text: str) -> str:
        return " ".join(text.split())

    def inputs(self, rows: pa.Table) -> list[Input]:
        return rows.column("text").to_pylist()

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("target").to_pylist()

    def outcomes(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        pairs = zip(values, self.gold(rows), strict=True)
        return np.array([[self.canonical(said) == self.canonical(gold)] for said, gold in pairs], dtype=np.int64)

    def scores(self, outcomes: np.ndarray) -> dict[str, float]:
        return {"exact": float(outcomes[:, 0].mean())}

    def read_value(self, text: Any) -> Value:
        return str(text)
