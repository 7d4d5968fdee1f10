"""Your own pairs of sentences and their translations."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Value
from niwaki.tasks._translation_scores import RIGHT, bleu, chrf, counts, signature
from niwaki.tasks.generation import Generation


class Translation(Generation):
    metric: ClassVar[str] = "bleu"
    correct_columns: ClassVar[slice] = slice(1 + RIGHT.start, 1 + RIGHT.stop)  # behind `exact`
    description: ClassVar[str] = "the translation of a sentence"

    @property
    def caveats(self) -> str:
        """With sacreBLEU's signature, without which a BLEU can be compared with none."""
        return f"{super().caveats} Scores are sacreBLEU's divided by 100: {signature()}.".strip()

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Whether the text is the reference itself; then the n-grams that are right, said and wanted."""
        return np.hstack([super().example_stats(values, rows), counts(values, self.gold(rows))])

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        summed = example_stats[:, 1:].sum(axis=0)
        return {"bleu": bleu(summed), "chrf": chrf(summed), **super().scores(example_stats[:, :1])}

    def parse_value(self, text: Any) -> Value:
        """Nothing in a cell is a translation without words."""
        if not isinstance(text, str | None):
            raise TypeError(f"a translation is a text (given: {type(text).__name__})")
        return text or ""
