"""How formulas are written, and what they are made of: symbols apart, trees, and back.

`calls`    answer(city(loc_2(stateid('new york'))))      FunQL; Prolog's terms, whose conjunctions are brackets without a name
`lists`    ( lambda $0 e ( flight $0 ) )                 lambda calculus as Lisp writes it
`clauses`  * cat ( x _ 1 ) ; sleep . agent ( x _ 2 , x _ 1 ) AND …   COGS
`sql`      SELECT … ;                                    of which quotes are set apart, and no more is known

Spaces between symbols mean nothing. A name in quotes is words between two quotes that are symbols of their own, so that a word
of the text and of the name can be the same.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from niwaki.core.errors import InputError

Notation: TypeAlias = Literal["", "calls", "lists", "clauses", "sql"]
APART = {
    "calls": re.compile(r"([(),'])"),
    "lists": re.compile(r"([()])"),
    "clauses": re.compile(r"([(),;])"),
    "sql": re.compile(r"([\"(),;])"),
}
QUOTE = {"calls": "'", "sql": '"'}
TIGHT = re.compile(r" ?\( ?| (?=[),])")
DEEPEST = 200  # brackets within brackets


@dataclass(frozen=True)
class Tree:
    """A symbol, alone or with arguments. A name in quotes is its words with their quotes, as one symbol."""

    head: str
    arguments: "tuple[Tree, ...] | None" = None


def separate_symbols(formula: str, notation: Notation) -> str:
    """Symbols with one space between them."""
    if notation in APART:
        formula = APART[notation].sub(r" \1 ", formula)
    return " ".join(formula.split())


def joined(text: str, notation: Notation) -> str:
    """A spaced formula as it is usually written."""
    quote = QUOTE.get(notation)
    if quote:
        text = re.sub(rf"{quote} ?(.*?) ?{quote}", rf"{quote}\1{quote}", text)
    return TIGHT.sub(lambda found: found[0].strip(), text) if notation == "calls" else text


def parse(formula: str, notation: Notation) -> Tree:
    """The tree of a formula in calls or lists; ValueError where it is none."""
    symbols = separate_symbols(formula, notation).split()
    reader = Reader(symbols, notation)
    tree = reader.term(0)
    if reader.at != len(symbols):
        raise ValueError(f"'{symbols[reader.at]}' follows where the formula is complete")
    return tree


class Reader:
    """Reads symbols one after the other."""

    def __init__(self, symbols: Sequence[str], notation: Notation) -> None:
        self.symbols, self.at = symbols, 0
        self.term = self._call if notation == "calls" else self._list

    def _take(self, wanted: str = "") -> str:
        found = self.symbols[self.at] if self.at < len(self.symbols) else ""
        if not found or (wanted and found != wanted):
            raise ValueError(f"'{wanted or 'a symbol'}' is wanted, and there is '{found or 'the end'}'")
        self.at += 1
        return found

    def _next(self) -> str:
        return self.symbols[self.at] if self.at < len(self.symbols) else ""

    def _call(self, depth: int) -> Tree:
        head = "" if self._next() == "(" else self._take()
        if head == QUOTE["calls"]:
            return Tree(" ".join([head, *self._quoted()]))
        if head in (")", ",") or depth > DEEPEST:
            raise ValueError(f"'{head}' is no term, or is too deep in brackets")
        if self._next() != "(":
            return Tree(head)
        self._take("(")
        arguments = [self._call(depth + 1)]
        while self._next() == ",":
            self._take()
            arguments.append(self._call(depth + 1))
        self._take(")")
        return Tree(head, tuple(arguments))

    def _quoted(self) -> Iterator[str]:
        """The words of a name and the quote that ends it."""
        words = 0
        while (word := self._take()) != QUOTE["calls"]:
            words += 1
            yield word
        if not words:
            raise ValueError("a name in quotes is empty")
        yield word

    def _list(self, depth: int) -> Tree:
        head = self._take()
        if head == ")" or depth > DEEPEST:
            raise ValueError(f"'{head}' is no term, or is too deep in brackets")
        if head != "(":
            return Tree(head)
        head = self._take()
        if head in ("(", ")"):
            raise ValueError(f"'{head}' is where a name must be")
        arguments = []
        while self._next() != ")":
            arguments.append(self._list(depth + 1))
        self._take(")")
        return Tree(head, tuple(arguments))


def sorted_within(tree: Tree, unordered: Sequence[str]) -> Tree:
    """The tree with the arguments of these symbols in the order of their spelling."""
    if tree.arguments is None:
        return tree
    arguments = [sorted_within(one, unordered) for one in tree.arguments]
    return Tree(tree.head, tuple(sorted(arguments, key=repr) if tree.head in unordered else arguments))


def trees(formulas: Sequence[str], notation: Notation) -> list[Tree]:
    """The formulas of train rows. Rejects the first that cannot be parsed."""
    found = []
    for number, formula in enumerate(formulas):
        try:
            found.append(parse(formula, notation))
        except ValueError as error:
            raise InputError(
                f"row {number + 1} of the train rows is no formula in {notation} ({error}): {formula[:80]}; fix it, or set data.well_formed = false"
            ) from None
    return found
