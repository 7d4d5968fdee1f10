"""Number of the subject, from the state of its verb, where the verb's own form does not show it.

Needs parts of speech of the Penn Treebank (`xpos`), or features of Universal Dependencies (`feats`).
Paper: Linzen et al. 2016, Assessing the ability of LSTMs to learn syntax-sensitive dependencies (arXiv 1611.01368).
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from niwaki.evaluate.probes._probe import Example, Probe, Sentence, column, numbers

SINGULAR, PLURAL = ("NN", "NNP"), ("NNS", "NNPS")
UNMARKED = ("VB", "VBD", "VBN", "VBG", "MD")  # forms of verbs with both numbers
MARKED_WORDS = ("was", "were", "has", "have", "is", "are", "'s", "'re")


class Agreement(Probe):
    columns: ClassVar[tuple[tuple[str, ...], ...]] = (("head", "heads"), ("deprel",), ("xpos", "feats"))

    def examples(self, sentences: Sequence[Sentence]) -> Iterator[Example]:
        for number, sentence in enumerate(sentences):
            heads, forms = numbers(column(sentence, ("head", "heads"))), column(sentence, ("xpos", "feats"))
            relations = column(sentence, ("deprel",))
            for place, (relation, head) in enumerate(zip(relations, heads, strict=False)):
                verb = head - 1
                if str(relation).split(":")[0] != "nsubj" or verb < 0 or not forms:
                    continue
                word, subject = str(sentence["tokens"][verb]).lower(), number_of(str(forms[place]))
                if subject and is_unmarked(word, str(forms[verb])):
                    yield Example(number, (verb,), subject, word)


def number_of(mark: str) -> str:
    """Of a noun: "singular", "plural", or "" where its mark does not say."""
    if mark in SINGULAR or "Number=Sing" in mark:
        return "singular"
    return "plural" if mark in PLURAL or "Number=Plur" in mark else ""


def is_unmarked(word: str, mark: str) -> bool:
    """Whether a verb's form is the same for both numbers."""
    if word in MARKED_WORDS:
        return False
    return mark in UNMARKED or ("VerbForm" in mark and "Number=" not in mark)
