"""What tasks share whose texts to be written are formulas: symbols apart, a grammar, and when two formulas are the same."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Value
from niwaki.answers._grammar import to_bytes
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.tasks import _grammar_induction
from niwaki.tasks._notation import Notation, parse, separate_symbols, sorted_within
from niwaki.tasks.generation import Generation


class FormulaTask(Generation):
    split: Literal["words", "bpe", "wordpiece", "bytes", "characters"] = setting(
        "words", "pieces of what is written; a grammar needs words"
    )
    well_formed: bool = setting(
        True, "whether only what a grammar allows is written, read off the train formulas; of words alone"
    )

    unordered: ClassVar[tuple[str, ...]] = ()  # symbols whose arguments mean the same in any order
    role_columns: ClassVar[dict[str, str]] = {}  # of a named task: role → its column

    @property
    def formula_notation(self) -> Notation:
        """How the formulas are written."""
        raise NotImplementedError

    def columns(self, table: pa.Table) -> dict[str, Any]:
        self.require_columns(table, list(self.role_columns.values()))
        return dict(self.role_columns) or super().columns(table)

    def require_columns(self, table: pa.Table, columns: Sequence[str]) -> None:
        """A named task knows its columns; these must be there."""
        missing = [name for name in columns if name not in table.column_names]
        if missing:
            raise InputError(
                f"{self.source()}: has no column '{missing[0]}', which task '{self.name}' reads (there is: {', '.join(table.column_names)})"
            )

    def separate_symbols(self, target: str) -> str:
        return separate_symbols(target, self.formula_notation)

    def grammar(self) -> bytes:
        """What lies beside the model to write by; nothing where the notation has no grammar, or pieces are not words."""
        if not self.well_formed or self.split != "words":
            return b""
        rules = _grammar_induction.induce_rules(self.gold(self.splits()["train"]), self.formula_notation)
        return to_bytes(rules) if rules else b""

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Whether each is the right formula, whatever its spaces; and, where order means nothing to some symbols, whatever it is."""
        exact = super().example_stats(values, rows)
        if not self.unordered:
            return exact
        pairs = zip(values, self.gold(rows), exact[:, 0], strict=True)
        return np.column_stack([exact, [bool(same) or self._alike(said, gold) for said, gold, same in pairs]])

    def _alike(self, said: str, gold: str) -> bool:
        try:
            one, other = (sorted_within(parse(text, self.formula_notation), self.unordered) for text in (said, gold))
        except ValueError:
            return False
        return one == other

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        names = ["exact", *(["exact_unordered"] if self.unordered else [])]
        return {name: float(column.mean()) for name, column in zip(names, example_stats.T, strict=True)}
