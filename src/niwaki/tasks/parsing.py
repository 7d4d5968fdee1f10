"""Your own texts, each with the formula that says what it means."""

from typing import ClassVar

from niwaki.core.settings import setting
from niwaki.tasks._formulas import Formulas
from niwaki.tasks._notation import Notation


class Parsing(Formulas):
    notation: Notation = setting("", "how the formulas are written: calls f(a, b), lists (f a b), clauses as COGS has them, sql; none knows of no grammar")  # fmt: skip

    description: ClassVar[str] = "the formula that a text means"

    @property
    def noted(self) -> Notation:
        return self.notation
