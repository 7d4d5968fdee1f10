"""Whether a sentence needs a negation: "It was ___ hot, it was really cold." (not, really)

Source: the template of oLMpics (arXiv 1912.13283); pairs of words with opposite and with like meanings were put together here.
"""

import numpy as np

from niwaki.evaluate.cloze._cloze import BLANK, Cloze, Item, balanced

CHOICES = ("not", "really")
OPPOSITE = (
    *("hot cold", "big small", "fast slow", "rich poor", "old young", "early late", "full empty", "hard soft"),
    *("heavy light", "high low", "happy sad", "strong weak", "thick thin", "wet dry", "good bad", "clean dirty"),
    *("dark bright", "loud quiet", "open closed", "safe dangerous", "cheap expensive", "wide narrow", "deep shallow"),
)
ALIKE = (
    *(
        "big large",
        "small little",
        "fast quick",
        "rich wealthy",
        "happy glad",
        "smart clever",
        "sick ill",
        "loud noisy",
    ),
    *("hard difficult", "easy simple", "quiet silent", "strange odd", "brave bold", "angry mad", "tired weary"),
    *("wet damp", "huge enormous", "tiny little", "calm peaceful", "right correct", "wrong false", "near close"),
    "strong powerful",
)


class Negation(Cloze):
    def items(self, generator: np.random.Generator, count: int) -> list[Item]:
        found = [
            Item(f"{start} {BLANK} {one}, it was really {other}.", CHOICES, answer)
            for answer, pairs in enumerate((OPPOSITE, ALIKE))
            for first, second in (pair.split() for pair in pairs)
            for one, other in ((first, second), (second, first))
            for start in ("It was", "The thing was")
        ]
        return balanced(found, generator, count)
