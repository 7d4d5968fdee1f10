"""More train rows from those there are: other names in their places, in the question and in its formula alike.

Paper: Jia and Liang 2016 (data recombination; of theirs, the rule that abstracts entities). Names come from the database, questions from
the train rows alone. A row whose question does not spell the name out as its formula does is left as it is.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from niwaki.core.seeds import numpy_generator
from niwaki.tasks._geography import World

NAMED = re.compile(r"(stateid|riverid|cityid)\('([^']+)'(\)|, _\))")
KINDS = {"stateid": "state", "riverid": "river", "cityid": "city"}
TRIES = 20  # draws for each row that is wanted, before too few are given
Row = tuple[str, str]  # question, formula


def recombined(rows: Sequence[Row], names: Mapping[str, Sequence[str]], wanted: int, without: Collection[str], seed: int) -> list[Row]:  # fmt: skip
    """At most so many new rows, none twice, none that is there, and none of the questions `without`. The same seed, the same rows."""
    patterns = [pattern for row in rows if (pattern := swappable(*row))]
    if not patterns:
        return []
    generator = numpy_generator(seed, "recombined", wanted)
    found: dict[Row, None] = {}
    known = set(rows)
    for _ in range(wanted * TRIES):
        if len(found) == wanted:
            break
        question, formula, places = patterns[generator.integers(len(patterns))]
        for kind, name in places:
            others = names[KINDS[kind]]
            question, formula = swapped(question, formula, kind, name, others[generator.integers(len(others))])
        if (question, formula) not in known and question not in without:
            found[question, formula] = None
    return list(found)


def swappable(question: str, formula: str) -> tuple[str, str, list[tuple[str, str]]] | None:
    """A row with the names in it that can be exchanged: those that stand in the question once, and are no part of another."""
    places = [(kind, name) for kind, name, _ in dict.fromkeys(NAMED.findall(formula))]
    names = [name for _, name in places]
    if len(set(names)) != len(names):
        return None
    found = [
        place
        for place in places
        if len(spelt(place[1], question)) == 1 and sum(place[1] in name for name in names) == 1
    ]
    return (question, formula, found) if found else None


def spelt(name: str, question: str) -> list[str]:
    """Where a question has the name as words of its own, however they are capitalized."""
    return re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE)


def swapped(question: str, formula: str, kind: str, name: str, other: str) -> Row:
    """Another name in the place of one, capitalized as that was."""
    as_written = spelt(name, question)[:1]
    if not as_written:
        return question, formula  # a name put in before hides it
    shown = other if as_written[0].islower() else " ".join(word.capitalize() for word in other.split())
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda _: shown, question, count=1), formula.replace(f"{kind}('{name}'", f"{kind}('{other}'")


def names_in(world: World) -> dict[str, list[str]]:
    """Names by kind. A city that is called as a state is left out: of New York no question says which it means."""
    found = {kind: {thing.name for thing in world.things if thing.kind == kind} for kind in KINDS.values()}
    return {kind: sorted(names - (found["state"] if kind == "city" else set())) for kind, names in found.items()}
