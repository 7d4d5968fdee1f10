"""Which of two things is larger: "The size of a bus is ___ than the size of a coin." (larger, smaller)

Source: the template of oLMpics (arXiv 1912.13283); groups of things, each larger than those before it, were put together here.
"""

import numpy as np

from niwaki.evaluate.cloze._cloze import BLANK, Cloze, Item, balanced

CHOICES = ("larger", "smaller")
GROUPS = (
    ("needle", "coin", "nail", "ring", "seed", "button", "pill"),
    ("cup", "book", "shoe", "bottle", "hammer", "plate", "phone"),
    ("chair", "table", "dog", "bicycle", "door", "sofa", "sheep"),
    ("car", "truck", "bus", "boat", "tractor", "elephant", "van"),
    ("house", "church", "bridge", "castle", "stadium", "hospital", "factory"),
    ("city", "mountain", "lake", "forest", "desert", "river", "island"),
)


class SizeComparison(Cloze):
    def items(self, generator: np.random.Generator, count: int) -> list[Item]:
        size = {thing: number for number, group in enumerate(GROUPS) for thing in group}
        found = [
            Item(f"The size of {article(a)} is {BLANK} than the size of {article(b)}.", CHOICES, int(size[a] < size[b]))
            for a in size
            for b in size
            if size[a] != size[b]
        ]
        return balanced(found, generator, count)


def article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
