"""Number of words of a sentence, in six ranges, from the mean of its states.

Paper: Adi et al. 2017, Fine-grained analysis of sentence embeddings (arXiv 1608.04207).
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from niwaki.evaluate.probes._probe import Example, Probe, Sentence

ENDS = (5, 8, 12, 16, 22)  # the longest of each range but the last


class SentenceLength(Probe):
    def examples(self, sentences: Sequence[Sentence]) -> Iterator[Example]:
        for number, sentence in enumerate(sentences):
            words = sentence["tokens"]
            yield Example(number, (), str(bisect_left(ENDS, len(words))), str(words[0]).lower())
