"""What a FunQL formula (Kate et al. 2005) denotes in the geography of a database: an interpreter, one small function for each symbol.

A formula denotes things (states, cities, rivers …), or numbers, each with the thing it is of, since `sum` and `largest_one` ask
whose it is. `largest(city(loc_2(stateid('texas'))))` is read from the inside: Texas; what lies in it; the cities of that; the largest.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from niwaki.tasks._geography import Thing, World
from niwaki.tasks._notation import Tree, parse


class Measured(NamedTuple):
    """A number and the thing it is of."""

    of: Thing | None
    value: float


Found: TypeAlias = "frozenset[Any]"  # of things, or of numbers
FILTERS = ("state", "city", "river", "lake", "mountain", "place", "capital", "major")
RELATIONS = (
    "loc_1",
    "loc_2",
    "next_to_1",
    "next_to_2",
    "traverse_1",
    "traverse_2",
    "capital_1",
    "capital_2",
    "high_point_1",
    "high_point_2",
    "low_point_1",
    "low_point_2",
)
MEASURES = {
    "population_1": "people",
    "density_1": "density",
    "area_1": "area",
    "len": "length",
    "elevation_1": "height",
    "size": "size",
}
EXTREMES = {
    "largest": ("size", max),
    "smallest": ("size", min),
    "longest": ("length", max),
    "shortest": ("length", min),
    "highest": ("height", max),
    "lowest": ("height", min),
}
BEYOND: dict[str, tuple[str, int]] = {"higher_2": ("height", 1), "lower_2": ("height", -1), "longer": ("length", 1)}
COUNTED = {"most": max, "fewest": min}
NAMED = {"stateid": "state", "riverid": "river", "placeid": "place", "countryid": "country", "cityid": "city"}


def denotation(formula: str, world: World) -> frozenset[str | float]:
    """Names and numbers that answer it; ValueError where it is no formula, or one that means nothing here."""
    tree = parse(formula, "calls")
    if tree.head != "answer" or len(tree.arguments or ()) != 1:
        raise ValueError("a formula is answer( … ) of one thing")
    return frozenset(
        one.value if isinstance(one, Measured) else one.name for one in Asking(world).of((tree.arguments or ())[0])
    )


class Asking:
    """One formula put to a world."""

    def __init__(self, world: World) -> None:
        self.world = world

    def of(self, tree: Tree) -> Found:
        """What a part of a formula denotes."""
        if tree.head == "all" and tree.arguments is None:
            return self.world.things
        if tree.head in NAMED:
            return self._named(tree)
        if tree.head in COUNTED:
            return self._by_count(COUNTED[tree.head], single(tree))
        if tree.head in ("intersection", "exclude"):
            one, other = (self.of(argument) for argument in pair(tree))
            return one & other if tree.head == "intersection" else one - other
        if tree.head == "elevation_2":
            return self._of_height(single(tree))
        if tree.arguments is None:
            raise ValueError(f"'{tree.head}' denotes nothing")
        argument = single(tree)
        if tree.head == "capital" and argument.head == "city":
            argument = single(argument)  # a capital is a city, also where it has no row among them
        return self.applied(tree.head, self.of(argument))

    def applied(self, head: str, given: Found) -> Found:
        """What a symbol of one argument makes of things or numbers."""
        world = self.world
        if head == "count":
            return frozenset({Measured(None, float(len(given)))})
        if head in ("sum", "largest_one", "smallest_one"):
            return self._of_numbers(head, given)
        if head in ("largest", "smallest") and any(isinstance(one, Measured) for one in given):
            return frozenset({EXTREMES[head][1](given, key=lambda one: one.value)})
        things = only_things(given)
        if head in FILTERS:
            return frozenset(thing for thing in things if world.is_a(thing, head))
        if head in RELATIONS:
            return frozenset(found for thing in things for found in world.related(head, thing))
        if head in MEASURES:
            return self._measured(MEASURES[head], things)
        if head in EXTREMES:
            measure, extreme = EXTREMES[head]
            return owners(self._measured(measure, things), extreme)
        if head in BEYOND:
            return self._beyond(*BEYOND[head], things)
        raise ValueError(f"'{head}' is no symbol of FunQL")

    def _named(self, tree: Tree) -> Found:
        """Things of a name; of cities also by the abbreviation of a state."""
        names = [one.head.strip("' ") for one in tree.arguments or ()]
        wanted = 2 if tree.head == "cityid" else 1
        if len(names) != wanted or any(one.arguments is not None for one in tree.arguments or ()):
            raise ValueError(f"'{tree.head}' takes {wanted} in quotes")
        return frozenset(self.world.called(NAMED[tree.head], *names))

    def _measured(self, measure: str, things: Iterable[Thing]) -> Found:
        values = ((thing, self.world.measure(measure, thing)) for thing in things)
        return frozenset(Measured(thing, float(value)) for thing, value in values if value is not None)

    def _of_numbers(self, head: str, given: Found) -> Found:
        if not all(isinstance(one, Measured) for one in given):
            raise ValueError(f"'{head}' asks for numbers")
        if head == "sum":
            return frozenset({Measured(None, sum(one.value for one in given))})
        return owners(given, max if head == "largest_one" else min)

    def _beyond(self, measure: str, sign: int, things: Iterable[Thing]) -> Found:
        """All that is higher, lower or longer than each of the things."""
        bounds = [sign * one.value for one in self._measured(measure, things)]
        if not bounds:
            return frozenset()
        return frozenset(one.of for one in self._measured(measure, self.world.things) if sign * one.value > max(bounds))

    def _of_height(self, tree: Tree) -> Found:
        height = float(tree.head) if tree.arguments is None else None  # no number: ValueError
        return frozenset(one.of for one in self._measured("height", self.world.things) if one.value == height)

    def _by_count(self, extreme: Callable[..., int], tree: Tree) -> Found:
        """`most(state(loc_1(city(all))))`: of the states, those that `loc_1` leads to from the most cities."""
        above = []
        while tree.head in FILTERS:
            above.append(tree.head)
            tree = single(tree)
        if tree.head not in RELATIONS:
            raise ValueError(f"'{tree.head}' relates nothing that could be counted")
        counts: Counter[Thing] = Counter()
        for thing in only_things(self.of(single(tree))):
            reached = self.applied(tree.head, frozenset({thing}))
            for head in reversed(above):
                reached = self.applied(head, reached)
            counts.update(reached)
        if not counts:
            return frozenset()
        count = extreme(counts.values())
        return frozenset(thing for thing, times in counts.items() if times == count)


def owners(numbers: Found, extreme: Callable[..., float]) -> Found:
    """The things whose number is the extreme one."""
    if not numbers:
        return numbers
    value = extreme(one.value for one in numbers)
    return frozenset(one.of for one in numbers if one.value == value and one.of is not None)


def only_things(given: Found) -> Iterable[Thing]:
    if any(isinstance(one, Measured) for one in given):
        raise ValueError("numbers are where things must be")
    return given


def single(tree: Tree) -> Tree:
    if len(tree.arguments or ()) != 1:
        raise ValueError(f"'{tree.head}' takes one argument")
    return (tree.arguments or ())[0]


def pair(tree: Tree) -> tuple[Tree, Tree]:
    if len(tree.arguments or ()) != 2:
        raise ValueError(f"'{tree.head}' takes two arguments")
    one, other = tree.arguments or ()
    return one, other
