"""Which one of some words of middling frequency a sentence has, from the mean of its states.

Paper: Conneau et al. 2018, What you can cram into a single $&!#* vector (arXiv 1805.01070).
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from niwaki.evaluate.probes._probe import Example, Probe, Sentence

WORDS, FEWEST, MOST_SHARE = 50, 5, 0.04  # targets; sentences with a target; share of the sentences with one, at most


class WordContent(Probe):
    def examples(self, sentences: Sequence[Sentence]) -> Iterator[Example]:
        each = [{str(word).lower() for word in sentence["tokens"] if str(word).isalpha()} for sentence in sentences]
        counts = Counter(word for words in each for word in words)
        most = max(FEWEST, MOST_SHARE * len(each))
        middling = sorted((-count, word) for word, count in counts.items() if FEWEST <= count <= most)
        targets = {word for _, word in middling[:WORDS]}
        for number, words in enumerate(each):
            if len(found := words & targets) == 1:
                yield Example(number, (), found.pop(), str(sentences[number]["tokens"][0]).lower())
