"""Senses of ambiguous words, from the state of the word. Words whose senses are all rare are left out.

Paper: Reif et al. 2019, Visualizing and measuring the geometry of BERT (arXiv 1906.02715).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

from niwaki.evaluate.probes._probe import Example, Probe, Sentence, column

SENSES, LEMMAS = ("sense_keys", "senses"), ("lemmas", "lemma")
FEWEST, WORDS = 8, 40  # occurrences of each of at least two senses; ambiguous words, the most frequent ones


class Senses(Probe):
    columns: ClassVar[tuple[tuple[str, ...], ...]] = (SENSES, LEMMAS)

    def examples(self, sentences: Sequence[Sentence]) -> Iterator[Example]:
        found = [
            Example(number, (place,), f"{lemma}: {key}", str(lemma))
            for number, sentence in enumerate(sentences)
            for place, (lemma, key) in enumerate(
                zip(column(sentence, LEMMAS), map(_first, column(sentence, SENSES)), strict=False)
            )
            if key
        ]
        counts = Counter((one.type, one.label) for one in found)
        frequent = {pair: count for pair, count in counts.items() if count >= FEWEST}
        senses = Counter(word for word, _ in frequent)
        totals: Counter[str] = Counter()
        for (word, _), count in frequent.items():
            totals[word] += count if senses[word] > 1 else 0
        kept = {word for word, count in totals.most_common(WORDS) if count}
        yield from (one for one in found if one.type in kept and (one.type, one.label) in frequent)


def _first(keys: object) -> str:
    """The sense of a word: the first of a list, "" where it has none."""
    if isinstance(keys, list | tuple):
        return str(keys[0]) if keys else ""
    return str(keys) if keys else ""
