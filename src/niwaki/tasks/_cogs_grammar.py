"""The grammar of COGS's logical forms (Kim and Linzen 2020), with the words of the train formulas.

    Emma
    * cat ( x _ 1 ) ; sleep . agent ( x _ 2 , x _ 1 ) AND cat . nmod . on ( x _ 1 , x _ 4 )
    LAMBDA a . LAMBDA e . sleep . agent ( e , a )

Nouns take a place in brackets or `. nmod .` and a preposition; verbs a role, any of them: that a verb was seen with another
one alone is what the set asks to go beyond. Variables are numbers, those that were seen, or of LAMBDA its letters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from niwaki.answers._grammar import END, Alternative, Rules, Symbol
from niwaki.core.errors import InputError
from niwaki.tasks._notation import separate_symbols

BINDS, MOD, MARK = "LAMBDA", "nmod", "x"


@dataclass
class Words:
    """What was seen as what."""

    nouns: set[str] = field(default_factory=set)
    verbs: set[str] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    prepositions: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    letters: set[str] = field(default_factory=set)
    symbols: set[str] = field(default_factory=set)  # all

    def add(self, formula: str) -> None:
        """ValueError where it is none."""
        symbols = separate_symbols(formula, "clauses").split()
        self.symbols |= set(symbols)
        bound = set()
        while symbols[:1] == [BINDS]:
            if len(symbols) < 4 or symbols[2] != ".":
                raise ValueError("LAMBDA needs a letter and a dot")
            bound.add(symbols[1])
            symbols = symbols[3:]
        self.letters |= bound
        if len(symbols) == 1 and not bound:
            self.names.add(symbols[0])
            return
        for clause in " ".join(symbols).replace(" ; ", " AND ").split(" AND "):
            self._add_clause(clause.removeprefix("* "), bound)

    def _add_clause(self, clause: str, bound: set[str]) -> None:
        path, bracket, rest = clause.partition(" ( ")
        if not bracket or not rest.endswith(" )"):
            raise ValueError(f"'{clause}' has no arguments in brackets")
        for argument in rest.removesuffix(" )").split(" , "):
            self._add_argument(argument, bound)
        match path.split(" . "):
            case [noun]:
                self.nouns.add(noun)
            case [verb, role]:
                self.verbs.add(verb)
                self.roles.add(role)
            case [noun, modifier, preposition] if modifier == MOD:
                self.nouns.add(noun)
                self.prepositions.add(preposition)
            case _:
                raise ValueError(f"'{path}' is no noun, verb and role, or noun and preposition")

    def _add_argument(self, argument: str, bound: set[str]) -> None:
        match argument.split():
            case [mark, "_", number] if mark == MARK and number.isdecimal():
                self.numbers.add(number)
            case [name] if name not in bound:
                self.names.add(name)
            case [_]:
                pass
            case _:
                raise ValueError(f"'{argument}' is no variable and no name")


def rules(formulas: Sequence[str]) -> Rules:
    words = Words()
    for number, formula in enumerate(formulas):
        try:
            words.add(formula)
        except ValueError as error:
            raise InputError(
                f"row {number + 1} of the train rows is no formula in clauses ({error}): {formula[:80]}; fix it, or set data.well_formed = false"
            ) from None
    return Maker(words).rules()


class Maker:
    def __init__(self, words: Words) -> None:
        self.words = words
        self.alternatives_of: list[list[Alternative]] = [[]]  # the first is the formula

    def rules(self) -> Rules:
        words, formula = self.words, self.alternatives_of[0]
        if words.numbers:
            variable: list[Symbol] = [MARK, "_", self._rule([(sorted(words.numbers), [])])]
            named = self._rule([([MARK], variable[1:]), *([(sorted(words.names), [])] if words.names else [])])
            heads = self._clause(variable, named)
            tail = self._tail(heads)
            formula += [(firsts, [*then, tail]) for firsts, then in heads]
            if "*" in words.symbols:
                formula.append((["*"], [self._starred(variable, tail, heads)]))
        alone = sorted(words.names - words.nouns - words.verbs)
        if alone:
            formula.append((alone, [END]))
        if words.letters:
            formula.append(([BINDS], [self._bound()]))
        return self.alternatives_of

    def _rule(self, alternatives: list[Alternative]) -> int:
        self.alternatives_of.append(alternatives)
        return len(self.alternatives_of) - 1

    def _clause(self, variable: list[Symbol], named: int) -> list[Alternative]:
        """Each head and the rest of its clause."""
        words = self.words
        of_noun, of_verb = self._after_noun(variable), self._after_verb(variable, named)
        both = words.nouns & words.verbs
        kinds = [(words.nouns - both, of_noun), (words.verbs - both, of_verb), (both, self._either(variable, named))]
        return [(sorted(heads), [self._rule(after)]) for heads, after in kinds if heads]

    def _after_noun(self, variable: list[Symbol]) -> list[Alternative]:
        found: list[Alternative] = [(["("], [*variable, ")"])]
        if self.words.prepositions:
            found.append((["."], [MOD, ".", *self._preposition(variable)]))
        return found

    def _preposition(self, variable: list[Symbol]) -> list[Symbol]:
        return [self._rule([(sorted(self.words.prepositions), [])]), "(", *variable, ",", *variable, ")"]

    def _after_verb(self, variable: list[Symbol], named: int) -> list[Alternative]:
        return [(["."], [self._rule([(sorted(self.words.roles), [])]), "(", *variable, ",", named, ")"])]

    def _either(self, variable: list[Symbol], named: int) -> list[Alternative]:
        """Of a word that was seen as noun and as verb."""
        after: list[Alternative] = [(sorted(self.words.roles), ["(", *variable, ",", named, ")"])]
        if self.words.prepositions:
            after.append(([MOD], [".", *self._preposition(variable)]))
        return [(["("], [*variable, ")"]), (["."], [self._rule(after)])]

    def _tail(self, heads: list[Alternative]) -> int:
        tail = self._rule([])
        self.alternatives_of[tail].append(([END], []))
        if "AND" in self.words.symbols:
            self.alternatives_of[tail].append(
                (["AND"], [self._rule([(firsts, [*then, tail]) for firsts, then in heads])])
            )
        return tail

    def _starred(self, variable: list[Symbol], tail: int, heads: list[Alternative]) -> int:
        """A definite noun, a semicolon, and then another or the clauses."""
        starred, after = self._rule([]), self._rule([(firsts, [*then, tail]) for firsts, then in heads])
        self.alternatives_of[after].append((["*"], [starred]))
        self.alternatives_of[starred].append((sorted(self.words.nouns), ["(", *variable, ")", ";", after]))
        return starred

    def _bound(self) -> int:
        """After LAMBDA: a letter, and another LAMBDA or clauses on letters."""
        letters = sorted(self.words.letters)
        letter = self._rule([(letters, [])])
        heads = self._clause([letter], letter)
        tail, bound = self._tail(heads), self._rule([])
        body = self._rule([([BINDS], [bound]), *((firsts, [*then, tail]) for firsts, then in heads)])
        self.alternatives_of[bound].append((letters, [".", body]))
        return bound
