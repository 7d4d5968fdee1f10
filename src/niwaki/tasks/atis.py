"""ATIS in lambda calculus (Zettlemoyer and Collins 2007), names numbered as Dong and Lapata (2016) do: what a flight enquiry asks for."""

from typing import ClassVar

from niwaki.tasks._formulas import Formulas
from niwaki.tasks._notation import Notation


class Atis(Formulas):
    home: ClassVar[str] = "atis"
    reads: ClassVar[dict[str, str]] = {"text": "utterance", "target": "logical_form"}
    unordered: ClassVar[tuple[str, ...]] = ("and", "or", "=")
    description: ClassVar[str] = "the formula of a flight enquiry"

    @property
    def noted(self) -> Notation:
        return "lists"
