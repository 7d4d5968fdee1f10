"""What tasks share whose texts to be written are formulas: symbols apart, a grammar, and when two formulas are the same."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from niwaki.answers._grammar import to_bytes
from niwaki.answers._kind import Value
from niwaki.core.errors import Refused
from niwaki.core.settings import setting
from niwaki.tasks import _grammars
from niwaki.tasks._notation import Notation, parse, sorted_within, spaced
from niwaki.tasks.writing import Writing


class Formulas(Writing):
    split: Literal["words", "bpe", "wordpiece", "bytes", "characters"] = setting("words", "pieces of what is written; a grammar needs words")  # fmt: skip
    well_formed: bool = setting(True, "whether only what a grammar allows is written, read off the train formulas; of words alone")  # fmt: skip

    unordered: ClassVar[tuple[str, ...]] = ()  # symbols whose arguments mean the same in any order
    reads: ClassVar[dict[str, str]] = {}  # of a named task: role → its column

    @property
    def noted(self) -> Notation:
        """How the formulas are written."""
        raise NotImplementedError

    def columns(self, table: pa.Table) -> dict[str, Any]:
        self.refuse_without(table, list(self.reads.values()))
        return dict(self.reads) or super().columns(table)

    def refuse_without(self, table: pa.Table, columns: Sequence[str]) -> None:
        """A named task knows its columns; these must be there."""
        missing = [name for name in columns if name not in table.column_names]
        if missing:
            raise Refused(f"{self.source()}: has no column '{missing[0]}', which task '{self.name}' reads (there is: {', '.join(table.column_names)})")  # fmt: skip

    def spaced(self, target: str) -> str:
        return spaced(target, self.noted)

    def grammar(self) -> bytes:
        """What lies beside the model to write by; nothing where the notation has no grammar, or pieces are not words."""
        if not self.well_formed or self.split != "words":
            return b""
        rules = _grammars.read(self.gold(self.splits()["train"]), self.noted)
        return to_bytes(rules) if rules else b""

    def outcomes(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Whether each is the right formula, whatever its spaces; and, where order means nothing to some symbols, whatever it is."""
        exact = super().outcomes(values, rows)
        if not self.unordered:
            return exact
        pairs = zip(values, self.gold(rows), exact[:, 0], strict=True)
        return np.column_stack([exact, [bool(same) or self._alike(said, gold) for said, gold, same in pairs]])

    def _alike(self, said: str, gold: str) -> bool:
        try:
            one, other = (sorted_within(parse(text, self.noted), self.unordered) for text in (said, gold))
        except ValueError:
            return False
        return one == other

    def scores(self, outcomes: np.ndarray) -> dict[str, float]:
        names = ["exact", *(["exact_unordered"] if self.unordered else [])]
        return {name: float(column.mean()) for name, column in zip(names, outcomes.T, strict=True)}
