"""How often the right translation is among the nearest words: P@1, P@5, with coverage and intervals."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from niwaki.core.json_types import Json
from niwaki.core.seeds import numpy_generator
from niwaki.vectors.dictionary import Pairs
from niwaki.vectors.retrieval import densities, nearest
from niwaki.vectors.table import WordVectors

CUTS = (1, 5)
DRAWS, LEVEL = 1000, 0.95


class Question(NamedTuple):
    source: int  # number of the word
    answers: frozenset[int]  # numbers of its translations that the target table has


def questions(pairs: Pairs, source: WordVectors, target: WordVectors) -> tuple[list[Question], int]:
    """The source words that have an answer, and of how many words they are: a word needs a vector, and one of a translation."""
    translations: dict[str, set[str]] = defaultdict(set)
    for word, translation in pairs:
        translations[word].add(translation)
    found = [
        Question(source.number_of[word], frozenset(target.number_of[one] for one in ones if one in target.number_of))
        for word, ones in translations.items()
        if word in source.number_of
    ]
    return [one for one in found if one.answers], len(translations)


def precision(pairs: Pairs, source: WordVectors, target: WordVectors, csls: bool) -> Json:
    """Shares of the covered source words with a right translation among the first 1 and 5; both tables are normalized and mapped."""
    queries, words = questions(pairs, source, target)
    if not queries:
        return {"words": words, "covered": 0}
    density = densities(source.vectors, target.vectors) if csls else None
    rows = source.vectors[[question.source for question in queries]]
    found = nearest(rows, target.vectors, max(CUTS), density)
    right = {
        f"p@{cut}": np.array(
            [bool(one.answers.intersection(row[:cut].tolist())) for one, row in zip(queries, found, strict=True)]
        )
        for cut in CUTS
    }
    return {"words": words, "covered": len(queries), **{name: _with_interval(hits) for name, hits in right.items()}}


def _with_interval(hits: np.ndarray) -> Json:
    """The mean with the percentile bootstrap over words."""
    draws = numpy_generator(0, "words").integers(0, len(hits), (DRAWS, len(hits)))
    means: Sequence[float] = hits[draws].mean(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {"value": float(hits.mean()), "low": float(low), "high": float(high)}
