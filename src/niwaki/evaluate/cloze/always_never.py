"""What always or never holds: "A triangle ___ has three sides." (always, never)

Source: after oLMpics (arXiv 1912.13283), which has five choices rated by people; here each sentence is true or false by the definition of its words.
"""

import numpy as np

from niwaki.evaluate.cloze._cloze import BLANK, Cloze, Item, balanced
from niwaki.evaluate.cloze.size_comparison import article

CHOICES = ("always", "never")
SIDES = {"triangle": "three", "square": "four", "pentagon": "five", "hexagon": "six", "octagon": "eight"}
DAYS = {
    "week": "seven days",
    "year": "twelve months",
    "day": "24 hours",
    "hour": "sixty minutes",
    "century": "a hundred years",
}
PARTS = {
    "bicycle": "two wheels",
    "tricycle": "three wheels",
    "spider": "eight legs",
    "insect": "six legs",
    "bird": "two wings",
}


class AlwaysNever(Cloze):
    def items(self, generator: np.random.Generator, count: int) -> list[Item]:
        sides = {shape: f"{number} sides" for shape, number in SIDES.items()}
        found = [
            Item(f"{start}{article(thing)} {BLANK} has {part}.".capitalize(), CHOICES, int(part != own))
            for facts in (sides, DAYS, PARTS)
            for thing, own in facts.items()
            for part in dict.fromkeys(facts.values())
            for start in ("", "as we know, ", "in fact, ", "of course, ")
        ]
        return balanced(found, generator, count)
