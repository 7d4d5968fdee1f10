"""Words whose neighbours differ most between two aligned tables, such as of two times or two groups of speakers (Hamilton et al. 2016)."""

import numpy as np

from niwaki.core.json_types import Json
from niwaki.vectors.retrieval import nearest
from niwaki.vectors.table import WordVectors

NEIGHBOURS, SHOWN = 10, 5


def changed_words(source: WordVectors, target: WordVectors, count: int) -> list[Json]:
    """Of the words that both tables have, those with the least cosine between their two vectors, and their neighbours in each table."""
    both = [word for word in source.words if word in target.number_of]
    if not both:
        return []
    left, right = (table.vectors[[table.number_of[word] for word in both]] for table in (source, target))
    cosines = (left * right).sum(axis=1)
    chosen = np.argsort(cosines, kind="stable")[:count]
    neighbours = [nearest(side[chosen], side, NEIGHBOURS + 1) for side in (left, right)]
    return [
        _entry(both, int(word), float(cosines[word]), *(row[at] for row in neighbours))
        for at, word in enumerate(chosen)
    ]


def _entry(words: list[str], word: int, cosine: float, before: np.ndarray, after: np.ndarray) -> Json:
    """`shared`: the share of neighbours that are the same in both tables."""
    sides = [[number for number in side.tolist() if number != word][:NEIGHBOURS] for side in (before, after)]
    common = len(set(sides[0]) & set(sides[1])) / max(1, len(sides[0]))
    named = [[words[number] for number in side[:SHOWN]] for side in sides]
    return {"word": words[word], "cosine": cosine, "shared": common, "source": named[0], "target": named[1]}
