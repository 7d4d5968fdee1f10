"""Your own texts, each with the formula that says what it means."""

from typing import ClassVar

from niwaki.core.settings import setting
from niwaki.tasks._formula_task import FormulaTask
from niwaki.tasks._notation import Notation


class Parsing(FormulaTask):
    notation: Notation = setting(
        "",
        "how the formulas are written: calls f(a, b), lists (f a b), clauses as COGS has them, sql; none knows of no grammar",
    )

    description: ClassVar[str] = "the formula that a text means"

    @property
    def formula_notation(self) -> Notation:
        return self.notation
