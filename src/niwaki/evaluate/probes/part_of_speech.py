"""Part of speech of each word, from its state.

Paper: Belinkov et al. 2017, What do neural machine translation models learn about morphology? (arXiv 1704.03471).
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from niwaki.evaluate.probes._probe import Example, Probe, Sentence, column

TAGS = ("upos", "pos", "xpos")


class PartOfSpeech(Probe):
    columns: ClassVar[tuple[tuple[str, ...], ...]] = (TAGS,)

    def examples(self, sentences: Sequence[Sentence]) -> Iterator[Example]:
        for number, sentence in enumerate(sentences):
            for place, (word, tag) in enumerate(zip(sentence["tokens"], column(sentence, TAGS), strict=False)):
                if tag:
                    yield Example(number, (place,), str(tag), str(word).lower())
