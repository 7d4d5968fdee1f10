"""Depth of the dependency tree of a sentence, from the mean of its states.

Paper: Conneau et al. 2018, What you can cram into a single $&!#* vector (arXiv 1805.01070), there with constituents.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from niwaki.evaluate.probes._probe import Example, Probe, Sentence, column, depths, numbers

SHALLOW, DEEP = 2, 7  # of the first and of the last class, which take in what is beyond them


class TreeDepth(Probe):
    columns: ClassVar[tuple[tuple[str, ...], ...]] = (("head", "heads"),)

    def examples(self, sentences: Sequence[Sentence]) -> Iterator[Example]:
        for number, sentence in enumerate(sentences):
            found = depths(numbers(column(sentence, ("head", "heads"))))
            if found:
                yield Example(number, (), str(min(max(max(found), SHALLOW), DEEP)), str(sentence["tokens"][0]).lower())
