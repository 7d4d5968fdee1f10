"""Dependency arcs: whether one word is the head of another, from both states. For each arc there is a pair of words without one.

Paper: Liu et al. 2019, Linguistic knowledge and transferability of contextual representations (arXiv 1903.08855).
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.probes._probe import Example, Probe, Sentence, column, numbers

NEAR = 5  # the other word is at most so many words away, if there is one


class DependencyArcs(Probe):
    columns: ClassVar[tuple[tuple[str, ...], ...]] = (("head", "heads"),)

    def examples(self, sentences: Sequence[Sentence]) -> Iterator[Example]:
        for number, sentence in enumerate(sentences):
            words, heads = sentence["tokens"], numbers(column(sentence, ("head", "heads")))
            generator = numpy_generator(0, "dependency_arcs", number)
            for place, head in enumerate(heads):
                others = [at for at in range(len(heads)) if at != place and at != head - 1 and heads[at] - 1 != place]
                near = [at for at in others if abs(at - place) <= NEAR] or others
                if not head or not near:
                    continue
                other = near[int(generator.integers(len(near)))]
                for at, label in ((head - 1, "arc"), (other, "none")):
                    yield Example(number, (place, at), label, f"{words[place]} {words[at]}".lower())
