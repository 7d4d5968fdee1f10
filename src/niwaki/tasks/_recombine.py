"""More train rows from those there are: other names in their places, in the question and in its formula alike.

Paper: Jia and Liang 2016 (data recombination; of theirs, the rule that abstracts entities). Names come from the database, questions from
the train rows alone. A row whose question does not spell the name out as its formula does is left as it is.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from niwaki.core.seeds import numpy_generator
from niwaki.tasks._geography import STATES, World

NAMED = re.compile(r"(stateid|riverid)\('([^']+)'\)|(cityid)\('([^']+)', (_|'\w+')\)")
TRIES = 20  # draws for each row that is wanted, before too few are given
Row = tuple[str, str]  # question, formula


class Name(NamedTuple):
    kind: str  # state, river, city, or town: a city named with its state
    spoken: str  # in a question
    written: str  # in a formula


def recombined(
    rows: Sequence[Row], names: Mapping[str, Sequence[Name]], wanted: int, without: Collection[str], seed: int
) -> list[Row]:
    """At most so many new rows, none twice, none that is there, and none of the questions `without`. The same seed, the same rows."""
    patterns = [(row, places) for row in rows if (places := [one for one in swappable(*row) if names[one.kind]])]
    if not patterns:
        return []
    generator = numpy_generator(seed, "recombined", wanted)
    decks = {kind: dealt(some, generator) for kind, some in names.items()}
    found: dict[Row, None] = {}
    known = set(rows)
    for _ in range(wanted * TRIES):
        if len(found) == wanted:
            break
        (question, formula), places = patterns[int(generator.integers(len(patterns)))]
        for name in places:
            question, formula = swapped(question, formula, name, next(decks[name.kind]))
        if (question, formula) not in known and question not in without:
            found[question, formula] = None
    return list(found)


def dealt(names: Sequence[Name], generator: np.random.Generator) -> Iterator[Name]:
    """All of them in some order, then in another: none comes again before each has come."""
    while names:
        for place in generator.permutation(len(names)):
            yield names[int(place)]


def swappable(question: str, formula: str) -> list[Name]:
    """The names of a row that can be exchanged: those that stand in the question once, and are no part of another."""
    names = list(dict.fromkeys(named(question, formula)))
    return [
        one
        for one in names
        if len(spelt(one.spoken, question)) == 1 and sum(one.spoken in other.spoken for other in names) == 1
    ]


def named(question: str, formula: str) -> Iterator[Name]:
    """The names in a formula, as the question would say them."""
    for found in NAMED.finditer(formula):
        kind, name, _, city, state = found.groups()
        if kind:
            yield Name(kind.removesuffix("id"), name, found[0])
        elif state == "_":
            yield Name("city", city, found[0])
        else:
            ways = [f"{city} {STATES.get(state.strip(chr(39)), '')}", f"{city} {state.strip(chr(39))}"]
            yield Name("town", next((way for way in ways if spelt(way, question)), ways[0]), found[0])


def spelt(name: str, question: str) -> list[str]:
    """Where a question has the name as words of its own, however they are capitalized."""
    return re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE)


def swapped(question: str, formula: str, name: Name, other: Name) -> Row:
    """Another name in the place of one, capitalized as that was."""
    as_written = spelt(name.spoken, question)[:1]
    if not as_written:
        return question, formula  # a name put in before hides it
    shown = other.spoken if as_written[0].islower() else " ".join(word.capitalize() for word in other.spoken.split())
    pattern = re.compile(rf"(?<!\w){re.escape(name.spoken)}(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda _: shown, question, count=1), formula.replace(name.written, other.written)


def names_in(world: World) -> dict[str, list[Name]]:
    """Names by kind. A city that is called as a state is no `city`: of New York no question says which it means."""
    things = sorted(world.things)
    found = {
        kind: [
            Name(kind, name, f"{kind}id('{name}')")
            for name in dict.fromkeys(one.name for one in things if one.kind == kind)
        ]
        for kind in ("state", "river")
    }
    states, letters = {one.spoken for one in found["state"]}, {state: spoken for spoken, state in STATES.items()}
    cities = [one for one in things if one.kind == "city"]
    alone = dict.fromkeys(one.name for one in cities if one.name not in states)
    return {
        **found,
        "city": [Name("city", name, f"cityid('{name}', _)") for name in alone],
        "town": [
            Name("town", f"{one.name} {one.state}", f"cityid('{one.name}', '{letters[one.state]}')")
            for one in cities
            if one.state in letters
        ],
    }
