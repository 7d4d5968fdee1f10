"""Which of two ages is higher: "A 41 year old person is ___ than a 24 year old person." (older, younger)

Source: the template of oLMpics (arXiv 1912.13283), ages from 10 to 59.
"""

import numpy as np

from niwaki.evaluate.cloze._cloze import BLANK, Cloze, Item, balanced

CHOICES = ("older", "younger")


class AgeComparison(Cloze):
    def items(self, generator: np.random.Generator, count: int) -> list[Item]:
        found = [
            Item(f"A {first} year old person is {BLANK} than a {second} year old person.", CHOICES, int(first < second))
            for first in range(10, 60)
            for second in range(10, 60)
            if first != second
        ]
        return balanced(found, generator, count)
