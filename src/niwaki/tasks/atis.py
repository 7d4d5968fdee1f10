"""ATIS in lambda calculus (Zettlemoyer and Collins 2007), names numbered as Dong and Lapata (2016) do: what a flight enquiry asks for."""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks._formula_task import FormulaTask
from niwaki.tasks._notation import Notation


class Atis(FormulaTask):
    published: ClassVar[Published] = Published("atis", columns={"text": "utterance", "target": "logical_form"})
    unordered: ClassVar[tuple[str, ...]] = ("and", "or", "=")
    description: ClassVar[str] = "the formula of a flight enquiry"

    @property
    def formula_notation(self) -> Notation:
        return "lists"
