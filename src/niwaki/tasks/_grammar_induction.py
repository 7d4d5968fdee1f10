"""Grammars read off train formulas: what each symbol takes, in how many places, and what was seen in each place.

Two places are of one kind where the same symbol was called in both (carried on: kinds are what hangs together), and may then
hold every call that any of them held: so a formula need not have been seen to be written. What stands alone is of a sort
(ci0 and ci3, morning:pd and evening:pd; a variable), and sorts are alike that were seen in one place which holds no calls; a
place holds the sorts like those seen in it. FunQL's `all` goes wherever calls of its kind go. Of names in quotes a place holds
those that were seen in it, word by word.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from niwaki.answers._grammar import END, Alternative, Rules, Symbol
from niwaki.core.errors import InputError
from niwaki.tasks._notation import QUOTE, Notation, Tree, trees

VARIABLE = re.compile(r"\$\d+|[A-Z]")
NUMBERED, SORTED = re.compile(r"([a-z]+)\d+"), re.compile(r".+:([a-z]+)")
FEW = 2  # a symbol seen with more numbers of arguments than these takes any number of them
Slot = tuple[str, int]  # a symbol and which of its places
Name = tuple[str, ...]  # its words
Held = TypeVar("Held", str, Name)
ROOT: Slot = ("", -1)


class SlotType(NamedTuple):
    """What may stand in a place."""

    call: str | None  # the first of the symbols that are called there, if any
    alone: frozenset[str]
    names: frozenset[Name]


def induce_rules(formulas: Sequence[str], notation: Notation) -> Rules | None:
    """The rules of what is written, or nothing where the notation has none."""
    if notation == "clauses":
        from niwaki.tasks._cogs_grammar import rules

        return rules(formulas)
    if notation not in ("calls", "lists"):
        return None
    seen = Seen()
    for tree in trees(formulas, notation):
        seen.add(tree, ROOT)
    return Maker(seen, notation).rules()


@dataclass
class Seen:
    """What stood where."""

    called: dict[Slot, set[str]] = field(default_factory=lambda: defaultdict(set))
    alone: dict[Slot, set[str]] = field(default_factory=lambda: defaultdict(set))
    sizes: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))  # numbers of arguments of each symbol
    named: dict[Slot, set[Name]] = field(default_factory=lambda: defaultdict(set))

    def add(self, tree: Tree, slot: Slot) -> None:
        if tree.arguments is None:
            self._add_alone(tree.head, slot)
            return
        self.called[slot].add(tree.head)
        self.sizes[tree.head].add(len(tree.arguments))
        for place, argument in enumerate(tree.arguments):
            self.add(argument, (tree.head, place))

    def _add_alone(self, head: str, slot: Slot) -> None:
        quote, *words = head.split(" ")
        if words and quote == QUOTE["calls"]:
            self.named[slot].add(tuple(words[:-1]))
        else:
            self.alone[slot].add(head)

    def takes_any(self, head: str) -> bool:
        return len(self.sizes[head]) > FEW

    def slot(self, head: str, place: int) -> Slot:
        """All places of a symbol that takes any number of arguments are one."""
        return (head, 0) if self.takes_any(head) else (head, place)

    def kinds(self, pooled: bool) -> dict[Slot, SlotType]:
        """Slot → its kind. `pooled`: what stands alone goes wherever calls of the kind go."""
        alone, called, named = self._by_slot(self.alone), self._by_slot(self.called), self._by_slot(self.named)
        own = {
            slot: {sort_of(head) for head in heads if not VARIABLE.fullmatch(head)}
            for slot, heads in alone.items()
            if slot not in called
        }
        alike, like = joined_up(own), joined_up(called)
        members: dict[str, set[str]] = defaultdict(set)
        for head in {head for heads in alone.values() for head in heads}:
            members[alike.get(sort_of(head), sort_of(head))].add(head)
        calls = {slot: like[min(called[slot])] if slot in called else None for slot in {*alone, *called, *named}}
        holds = {
            slot: {one for head in alone.get(slot, ()) for one in members[alike.get(sort_of(head), sort_of(head))]}
            for slot in calls
        }
        if pooled:
            pools: dict[str | None, set[str]] = defaultdict(set)
            for slot, call in calls.items():
                pools[call] |= holds[slot]
            holds = {slot: pools[call] if call else holds[slot] for slot, call in calls.items()}
        return {
            slot: SlotType(call, frozenset(holds[slot]), frozenset(named.get(slot, ()))) for slot, call in calls.items()
        }

    def _by_slot(self, seen: dict[Slot, set[Held]]) -> dict[Slot, set[Held]]:
        """All places of a symbol that takes any number of arguments are one."""
        found: dict[Slot, set[Held]] = defaultdict(set)
        for slot, held in seen.items():
            found[slot if slot == ROOT else self.slot(*slot)] |= held
        return dict(found)


def joined_up(groups: dict[Slot, set[str]]) -> dict[str, str]:
    """Name → the first of all names that it hangs together with, where those of one group do."""
    parent = {name: name for names in groups.values() for name in names}
    for names in groups.values():
        for one in names:
            ends = sorted((root(parent, one), root(parent, min(names))))
            parent[ends[1]] = ends[0]
    return {name: root(parent, name) for name in parent}


def root(parent: dict[str, str], name: str) -> str:
    while parent[name] != name:
        name = parent[name]
    return name


def sort_of(head: str) -> str:
    """What it has in common with what is named alike; else itself."""
    if VARIABLE.fullmatch(head):
        return "$"
    like = NUMBERED.fullmatch(head) or SORTED.fullmatch(head)
    return f"{like[1]}:" if like else head


class Maker:
    """Rules of what was seen: one for each kind of place, and some for what is left of a call."""

    def __init__(self, seen: Seen, notation: Notation) -> None:
        self.seen, self.notation, self.kinds = seen, notation, seen.kinds(notation == "calls")
        self.alternatives_of: list[list[Alternative]] = []
        self.numbers: dict[tuple[object, ...], int] = {}
        self.calls: dict[str, set[str]] = defaultdict(set)
        for slot, heads in seen.called.items():
            self.calls[str(self.kinds[slot if slot == ROOT else seen.slot(*slot)].call)] |= heads

    def rules(self) -> Rules:
        self._numbered(("formula",), lambda: [(firsts, [*then, END]) for firsts, then in self._term(self.kinds[ROOT])])
        return self.alternatives_of

    def _numbered(self, key: tuple[object, ...], make: Callable[[], list[Alternative]]) -> int:
        """The number of a rule that is made once."""
        if key not in self.numbers:
            self.numbers[key] = len(self.alternatives_of)
            self.alternatives_of.append([])
            self.alternatives_of[self.numbers[key]] = grouped(make())
        return self.numbers[key]

    def _kind(self, head: str, place: int) -> SlotType:
        return self.kinds[self.seen.slot(head, place)]

    def _argument(self, kind: SlotType) -> int:
        return self._numbered(("term", kind), lambda: self._term(kind))

    def _term(self, kind: SlotType) -> list[Alternative]:
        """What may stand in a place of the kind."""
        calls, alone = sorted(self.calls[kind.call] if kind.call is not None else ()), sorted(kind.alone)
        found: list[Alternative] = [([head], []) for head in alone]
        if kind.names:
            found.append(([QUOTE["calls"]], [self._name(kind.names)]))
        if self.notation == "calls":
            both = sorted(set(calls) & set(alone))
            if both:
                raise InputError(
                    f"'{both[0]}' stands both alone and before a bracket in the train formulas, so no grammar can be read off them; set data.well_formed = false"
                )
            return found + [([head or "("], [*(["("] if head else []), *self._arguments(head)]) for head in calls]
        if calls:
            found.append(
                (
                    ["("],
                    [self._numbered(("call", kind.call), lambda: [([head], self._arguments(head)) for head in calls])],
                )
            )
        return found

    def _arguments(self, head: str) -> list[Symbol]:
        """The arguments of a call and the bracket that ends it."""
        fewest = min(self.seen.sizes[head])
        found: list[Symbol] = []
        for place in range(fewest):
            found += [","] if place and self.notation == "calls" else []
            found.append(self._argument(self._kind(head, place)))
        return [*found, *self._rest(head, fewest)]

    def _rest(self, head: str, place: int) -> list[Symbol]:
        """What may follow so many arguments."""
        if not self.seen.takes_any(head) and place == max(self.seen.sizes[head]):
            return [")"]
        key = ("rest", self._kind(head, place)) if self.seen.takes_any(head) else ("rest", head, place)
        return [self._numbered(key, lambda: self._more(head, place))]

    def _more(self, head: str, place: int) -> list[Alternative]:
        may_end = self.seen.takes_any(head) or place in self.seen.sizes[head]
        kind, rest = self._kind(head, place), self._rest(head, place + 1)
        ends: list[Alternative] = [([")"], [])] if may_end else []
        if self.notation == "calls":
            return [*ends, ([","], [self._argument(kind), *rest])]
        return [*ends, *((firsts, [*then, *rest]) for firsts, then in self._term(kind))]

    def _name(self, rest: frozenset[Name]) -> int:
        """What is left of names that begin alike: their next word, or the quote that ends them."""
        return self._numbered(("name", rest), lambda: self._words(rest))

    def _words(self, rest: frozenset[Name]) -> list[Alternative]:
        following: dict[str, set[Name]] = defaultdict(set)
        for name in rest:
            if name:
                following[name[0]].add(name[1:])
        ends: list[Alternative] = [([QUOTE["calls"]], [])] if () in rest else []
        return [*ends, *(([word], [self._name(frozenset(names))]) for word, names in sorted(following.items()))]


def grouped(alternatives: Iterable[Alternative]) -> list[Alternative]:
    """Alternatives that go on alike as one."""
    found: dict[tuple[Symbol, ...], list[str]] = defaultdict(list)
    for firsts, then in alternatives:
        found[tuple(then)] += firsts
    return [(firsts, list(then)) for then, firsts in found.items()]
