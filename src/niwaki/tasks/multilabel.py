"""Your own texts, or pairs of texts, each with any number of labels."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.answers._answer_type import EncodedInputs, Value
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.data.columns import guess_columns
from niwaki.models.criteria import BinaryCrossEntropy
from niwaki.tasks._declarations import TableFormat
from niwaki.tasks._metrics import accuracy_many, f1_macro_many, f1_micro_many
from niwaki.tasks._scorer import Scorer
from niwaki.tasks._tables import as_text
from niwaki.tasks._text_task import ROLES, TextTask


class Multilabel(TextTask):
    separator: str = setting(
        "", "what stands between labels, where a cell holds them as one text; none guesses, or takes |"
    )

    table: ClassVar[TableFormat] = TableFormat("multilabel", ROLES)
    answer: ClassVar[str] = "labels"
    metric: ClassVar[str] = "f1_micro"
    description: ClassVar[str] = "any number of labels for a text or a pair"

    _guessed_separator: str = ""  # guessed from the train rows, since a few test rows may not show it

    def read_parts(self) -> dict[str, pa.Table]:
        found = super().read_parts()
        first = found["train"] if "train" in found else next(iter(found.values()))
        self._guessed_separator = guess_columns(first, self.data.columns(first), self.table.layout).separator
        return found

    def split_labels(self, cell: str) -> list[str]:
        separator = self.separator or self._guessed_separator or "|"
        return [name.strip() for name in cell.split(separator) if name.strip()]

    def read_labels(self, part: str, table: pa.Table, column: str) -> pa.ChunkedArray:
        """Lists of names. A row may have none."""
        if not pa.types.is_list(table.schema.field(column).type):
            cells = compute.fill_null(as_text(table, column, self.data.source), "")
            lists = [self.split_labels(cell) for cell in cells.to_pylist()]
            return pa.chunked_array([pa.array(lists, pa.list_(pa.string()))])
        lists = table.column(column).cast(pa.list_(pa.string()))
        self.data.reject_empty(part, pa.table({column: compute.list_flatten(lists)}))
        return compute.fill_null(lists, [])

    @cached_property
    def labels(self) -> list[str]:
        found = set(compute.unique(compute.list_flatten(self.splits()["train"].column("label"))).to_pylist())
        if not found:
            raise InputError(f"{self.data.source}: no train row has a label; name another column (data.label)")
        return sorted(found)

    def indicators(self, values: Sequence[Iterable[str]]) -> np.ndarray:
        """(rows, labels) of 0 and 1. Rejects labels that no train row has: a model can never predict them."""
        number = {name: k for k, name in enumerate(self.labels)}
        table = np.zeros((len(values), len(number)), dtype=np.float32)
        for row, names in enumerate(values):
            for name in names:
                if name not in number:
                    raise InputError(
                        f"{self.data.source}: label '{name}' is not among the train rows' labels ({', '.join(self.labels[:8])})"
                    )
                table[row, number[name]] = 1
        return table

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> np.ndarray:
        return self.indicators(self.gold(rows))

    @cached_property
    def criterion(self) -> BinaryCrossEntropy:
        return BinaryCrossEntropy()

    @cached_property
    def scorer(self) -> "MultilabelScorer":
        return MultilabelScorer(self)


class MultilabelScorer(Scorer[Multilabel]):
    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        return np.concatenate([self.task.indicators(values), self.task.indicators(self.task.gold(rows))], axis=1) > 0

    def errors(self, example_stats: np.ndarray) -> np.ndarray:
        """Labels that are missing or too many."""
        predicted, gold = np.split(example_stats, 2, axis=1)
        return (predicted != gold).sum(axis=1).astype(float)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        predicted, gold = np.split(example_stats, 2, axis=1)
        metrics = {"f1_micro": f1_micro_many, "f1_macro": f1_macro_many, "accuracy": accuracy_many}
        return {name: measure(predicted, gold) for name, measure in metrics.items()}

    def all_wrong(self, example_stats: np.ndarray) -> np.ndarray:
        predicted, gold = np.split(example_stats, 2, axis=1)
        return np.concatenate([predicted & ~gold, gold], axis=1)

    def parse_value(self, cell: object) -> Value:
        if isinstance(cell, str):
            return self.task.split_labels(cell)
        if cell is not None and not isinstance(cell, Iterable):
            raise TypeError(f"{cell!r} is not a list of labels")
        return list(cell or ())
