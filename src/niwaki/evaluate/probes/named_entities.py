"""Named entities: the tag of each word, from its state. Words outside of entities are thinned, because most are.

Paper: Tenney et al. 2019, What do you learn from context? (arXiv 1905.06316).
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from niwaki.evaluate.probes._probe import Example, Probe, Sentence, column

TAGS = ("ner_tags", "ner", "tags", "labels")
OUTSIDE, EVERY = "O", 4  # so many words outside of entities make one example


class NamedEntities(Probe):
    columns: ClassVar[tuple[tuple[str, ...], ...]] = (TAGS,)

    def examples(self, sentences: Sequence[Sentence]) -> Iterator[Example]:
        outside = 0
        for number, sentence in enumerate(sentences):
            for place, (word, tag) in enumerate(zip(sentence["tokens"], column(sentence, TAGS), strict=False)):
                outside += tag == OUTSIDE
                if tag != OUTSIDE or outside % EVERY == 0:
                    yield Example(number, (place,), str(tag), str(word).lower())
