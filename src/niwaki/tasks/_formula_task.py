"""Base of tasks that generate formulas: symbols are separated, a grammar constrains them, and equal formulas are recognised."""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Value
from niwaki.answers._grammar import to_bytes
from niwaki.core.settings import setting
from niwaki.tasks import _grammar_induction
from niwaki.tasks._notation import Notation, parse, separate_symbols, sorted_within
from niwaki.tasks.generation import Generation, TextScorer


class FormulaTask(Generation):
    split: Literal["words", "bpe", "wordpiece", "bytes", "characters"] = setting(
        "words", "tokens of generated texts; a grammar needs words"
    )
    well_formed: bool = setting(
        True, "whether only what a grammar allows is written, read off the train formulas; of words alone"
    )

    unordered: ClassVar[tuple[str, ...]] = ()  # symbols whose arguments mean the same in any order

    @property
    def formula_notation(self) -> Notation:
        """How the formulas are written."""
        raise NotImplementedError

    def separate_symbols(self, target: str) -> str:
        return separate_symbols(target, self.formula_notation)

    def grammar(self) -> bytes:
        """Empty if the notation has no grammar, or if tokens are not words."""
        if not self.well_formed or self.split != "words":
            return b""
        rules = _grammar_induction.induce_rules(self.gold(self.splits()["train"]), self.formula_notation)
        return to_bytes(rules) if rules else b""

    @cached_property
    def scorer(self) -> TextScorer:
        return FormulaScorer(self)


class FormulaScorer(TextScorer):
    task: FormulaTask

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Whether formulas are equal up to spaces; and, if the task has unordered symbols, up to the order of arguments."""
        exact = super().example_stats(values, rows)
        if not self.task.unordered:
            return exact
        pairs = zip(values, self.task.gold(rows), exact[:, 0], strict=True)
        return np.column_stack([exact, [bool(same) or self._equal_unordered(*both) for *both, same in pairs]])

    def _equal_unordered(self, generated: str, gold: str) -> bool:
        notation, unordered = self.task.formula_notation, self.task.unordered
        try:
            trees = [sorted_within(parse(text, notation), unordered) for text in (generated, gold)]
        except ValueError:
            return False
        return trees[0] == trees[1]

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        names = ["exact", *(["exact_unordered"] if self.task.unordered else [])]
        return {name: float(column.mean()) for name, column in zip(names, example_stats.T, strict=True)}
