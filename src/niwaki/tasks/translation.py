"""Your own pairs of sentences and their translations."""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Value
from niwaki.tasks._translation_scores import RIGHT, bleu, chrf, counts, signature
from niwaki.tasks.generation import Generation, TextScorer


class Translation(Generation):
    metric: ClassVar[str] = "bleu"
    description: ClassVar[str] = "the translation of a sentence"

    @cached_property
    def scorer(self) -> "TranslationScorer":
        return TranslationScorer(self)


class TranslationScorer(TextScorer):
    correct_columns: ClassVar[slice] = slice(1 + RIGHT.start, 1 + RIGHT.stop)  # the first column is `exact`

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Whether the text equals the reference; then the counts of matching, generated and reference n-grams."""
        return np.hstack([super().example_stats(values, rows), counts(values, self.task.gold(rows))])

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        totals = example_stats[:, 1:].sum(axis=0)
        return {"bleu": bleu(totals), "chrf": chrf(totals), **super().scores(example_stats[:, :1])}

    def parse_value(self, cell: object) -> Value:
        """An empty cell is an empty translation."""
        if not isinstance(cell, str | None):
            raise TypeError(f"a translation is a text (given: {type(cell).__name__})")
        return cell or ""

    def note(self) -> str:
        """BLEU scores are comparable only if their sacreBLEU signatures are equal."""
        return f"Scores are sacreBLEU's divided by 100: {signature()}."
