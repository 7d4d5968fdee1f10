"""Your own texts, each with a text to be written for it. (Local, until the base lands on main.)"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from niwaki.answers._kind import Input, Value
from niwaki.core.settings import setting
from niwaki.tasks._tables import as_text
from niwaki.tasks._task import Task


class Writing(Task):
    split: Literal["words", "bpe", "wordpiece", "bytes", "characters"] = setting("bpe", "pieces of what is written")
    pieces: int = setting(8000, "size of that vocabulary", ge=5, le=400_000)
    longest: int = setting(128, "most tokens that are written", ge=1, le=100_000)

    roles: ClassVar[tuple[str, ...]] = ()
    form: ClassVar[str] = "writing"
    answer: ClassVar[str] = "text"
    metric: ClassVar[str] = "exact"

    def checked(self, part: str, table: pa.Table) -> pa.Table:
        columns = self.columns(table)
        texts = {
            name: as_text(table, columns[role], self.source())
            for name, role in (("text", "source"), ("target", "target"))
        }
        self.refuse_empty(part, pa.table(list(texts.values()), [columns["source"], columns["target"]]))
        return pa.table(texts)

    @property
    def labels(self) -> list[str]:
        return []

    def inputs(self, rows: pa.Table) -> list[Input]:
        return rows.column("text").to_pylist()

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("target").to_pylist()

    def spaced(self, target: str) -> str:
        return target

    def outcomes(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        return np.array([[float(a == b)] for a, b in zip(values, self.gold(rows), strict=True)])

    def scores(self, outcomes: np.ndarray) -> dict[str, float]:
        return {"exact": float(outcomes[:, 0].mean())}
