"""Base of tasks whose answer is a tag for every word of a sentence, in a column `tags`."""

from functools import cached_property

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import EncodedInputs, Value
from niwaki.core.errors import InputError
from niwaki.data.ragged import Ragged
from niwaki.models.criteria import TokenCrossEntropy
from niwaki.models.forward import NO_LABEL
from niwaki.tasks._task import Task


class WordTask(Task):
    def lists(self, table: pa.Table, column: str) -> pa.ChunkedArray:
        try:
            return table.column(column).cast(pa.list_(pa.string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"{self.data.source}: column '{column}' does not hold lists; give jsonl or parquet with a list per sentence"
            ) from None

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("tags").to_pylist()

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> Ragged:
        """The tag at the first token of each word; NO_LABEL elsewhere and for tags that no train row has."""
        number = {name: k for k, name in enumerate(self.labels)}
        gold, flat = self.gold(rows), np.full(len(encoded.ids.values), NO_LABEL, dtype=np.int32)
        for sequence, (owner, (first, places, *_)) in enumerate(
            zip(encoded.input_index, encoded.metadata, strict=True)
        ):
            numbers = np.array([number.get(tag, NO_LABEL) for tag in gold[owner][first : first + len(places)]])
            flat[encoded.ids.starts[sequence] + places[places >= 0]] = numbers[places >= 0]
        return Ragged(flat, encoded.ids.starts)

    @cached_property
    def criterion(self) -> TokenCrossEntropy:
        return TokenCrossEntropy()
